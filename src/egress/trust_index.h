/* trust_index.h - the file form of the index of roots: written by index-roots, read by trust.c.
 *
 * Big-endian: TRUST_MAGIC, u32 count, then count times (u32 X509_NAME_hash of the subject, u32
 * offset from the start of the file, u32 length), sorted by hash, then the DER certificates. */
#ifndef EGRESS_TRUST_INDEX_H
#define EGRESS_TRUST_INDEX_H

#define TRUST_MAGIC     "OSTROOT1"
#define TRUST_MAGIC_LEN 8u
#define TRUST_ENTRY_LEN 12u
#define TRUST_ROOTS_MAX 4096u
#define TRUST_INDEX_MAX (16u << 20)

#endif
