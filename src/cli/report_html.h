/* report_html.h - writing HTML into a buf. What a box wrote goes through html_text and nothing
 * else: quoted as for a terminal (str_quote), then every character that means something to HTML, in
 * text and in attributes, as a reference. Data never comes near a script (there is none), a style
 * or an address. */
#ifndef CLI_REPORT_HTML_H
#define CLI_REPORT_HTML_H

#include <stdint.h>

struct buf;

/* html_text(b, s): hostile text. html_cut(b, s, n): the same, at most ${n} bytes of it and then
 * "...". html_shown(b, s, n): of a string that was quoted already. */
void html_text(struct buf *, const char *s);
void html_cut(struct buf *, const char *s, unsigned n);
void html_shown(struct buf *, const char *s, unsigned n);

/* html_num(b, n): "12,345". html_size(b, n): "4.1 MiB". html_span(b, us): "3 min 20 s". */
void html_num(struct buf *, uint64_t n);
void html_size(struct buf *, uint64_t bytes);
void html_span(struct buf *, int64_t us);

/* html_count(b, n, one, many): "1 request", "12 requests". */
void html_count(struct buf *, uint64_t n, const char *one, const char *many);

#endif
