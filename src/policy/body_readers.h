/* body_readers.h - values in bodies that are neither JSON nor a plain form: multipart fields, GraphQL
 * operations, XML elements. Pure; linear; each says false when the bytes could be read in two ways,
 * after showing what it found so far, so that whoever needs them for a refusal can refuse. */
#ifndef POLICY_BODY_READERS_H
#define POLICY_BODY_READERS_H

#include "policy/match.h"

/* body_multipart_each(type, p, n, name, is_loose, visit, ctx): the contents of each part that is
 * called ${name} in a form of the Content-Type ${type}; NAME.filename is the name of its file. */
bool body_multipart_each(const char *type, const char *, size_t, const char *name, bool is_loose,
                         request_visit *, void *ctx);
/* body_multipart_new(type, p, n): the same in steps, for many names. ${p} must live as long.
 * body_multipart_step(m, f, &used): one part, or some of its contents, into ${f}. 1: that was all; 0:
 * not yet; -1: the parts cannot be told apart with certainty, or there are too many (fields_is_cut).
 * ${used}: bytes that were looked at, 64 KiB at most. */
struct body_multipart;
struct fields;
struct body_multipart *body_multipart_new(const char *type, const char *, size_t);
int body_multipart_step(struct body_multipart *, struct fields *, size_t *used);
void body_multipart_free(struct body_multipart *);

/* body_graphql_each(p, n, visit, ctx): "mutation deleteRepository" for each field at the root of each
 * operation, through aliases and fragments. */
bool body_graphql_each(const char *, size_t, request_visit *, void *ctx);

/* body_xml_each(p, n, name, visit, ctx): the text of each element and the value of each attribute
 * whose name without its namespace is ${name}, in any letters. A DOCTYPE is not read. */
bool body_xml_each(const char *, size_t, const char *name, request_visit *, void *ctx);

#endif
