/* trust_list.h - where a host keeps the roots that its programs trust. Data only: session looks
 * there for what a box starts from, the keeper puts the box's own version in the same places. */
#ifndef POLICY_TRUST_LIST_H
#define POLICY_TRUST_LIST_H

/* Bundles of PEM certificates; the first that exists is the host's. NULL ends each list. */
extern const char *const trust_list_bundles[];

/* The bundle that every box has, whatever its host is: the first of the list. */
#define TRUST_LIST_BUNDLE "/etc/ssl/certs/ca-certificates.crt"

#define TRUST_LIST_JAVA "/etc/ssl/certs/java/cacerts"

/* The box's own authority by itself. */
#define TRUST_LIST_OURS "/etc/ssl/certs/ostiary-box-ca.pem"

/* Stores of the host's Java; the first is made wherever there is any Java. */
extern const char *const trust_list_java[];

/* Where Javas are that bring a store of their own; "~" is the home. */
extern const char *const trust_list_jdks[];

/* Browsers that are told by a policy in /etc, and the files they read: of Chromium's family, and
 * Firefox's. */
extern const char *const trust_list_browsers[];
extern const char *const trust_list_policies[];
#define TRUST_LIST_FIREFOX "/etc/firefox/policies/policies.json"

/* Browsers of test tools, which read ~/.pki/nssdb; "~" is the home. */
extern const char *const trust_list_nss[];

#endif
