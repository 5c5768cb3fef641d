/* ca_tree.h - the files of one authority in the pool: the layer that lies over the box's /etc, and
 * the database of browsers. */
#ifndef KEEPER_CA_TREE_H
#define KEEPER_CA_TREE_H

struct ca_cert;
struct ca_roots;
struct err;

/* ca_tree_etc(dir_fd, cert, roots, err): make etc/ in ${dir_fd}: wherever programs of this host
 * look for trusted roots, the same with ours added; /etc/ssl/certs/ca-certificates.crt in any case.
 * One that was made for another authority and the same roots is turned into this one's. */
int ca_tree_etc(int dir_fd, const struct ca_cert *, const struct ca_roots *, struct err *);

/* ca_tree_browsers(dir_fd, cert, err): add policies to etc/ that tell installed browsers of ours.
 */
int ca_tree_browsers(int dir_fd, const struct ca_cert *, struct err *);

/* ca_tree_nss(dir_fd, certutil, cert, err): make nssdb/ in ${dir_fd} with that program. */
int ca_tree_nss(int dir_fd, const char *certutil, const struct ca_cert *, struct err *);

#endif
