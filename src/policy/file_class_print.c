/* file_class_print.c - the tables of file_class.h as text, for `ostiary diff --classes` and for
 * docs/classes.md, which a test compares with this. One line each: CLASS PATTERN WHY. */
#include "policy/file_class.h"

#include "base/buf.h"
#include "policy/file_class_table.h"
#include "policy/git_config.h"

static void line(struct buf *out, enum file_class class, const char *pattern, const char *why)
{
        buf_put_fmt(out, "%-19s %-33s %s", file_class_name(class), pattern, why);
        while (out->len > 0 && out->data[out->len - 1] == ' ')
                out->len--;
        buf_put_u8(out, '\n');
}

static void keys(struct buf *out, const char *head, const char *(*at)(size_t))
{
        size_t column = 0;
        buf_put_fmt(out, "\n# %s\n", head);
        for (size_t i = 0; at(i); i++) {
                size_t from = out->len;
                buf_put_fmt(out, "%s%s", column == 0 ? "" : column > 60 ? "\n" : " ", at(i));
                column = column > 60 ? out->len - from : column + out->len - from;
        }
        buf_put_u8(out, '\n');
}

void file_class_print(const struct file_classes *t, struct buf *out)
{
        size_t user_n = file_classes_user_n(t);
        if (user_n)
                buf_put_str(out, "# your rows; of two that hold the later one decides\n");
        for (size_t i = 0; i < user_n; i++) {
                enum file_class class;
                const char *pattern = file_classes_user_at(t, i, &class);
                line(out, class, pattern, "");
        }
        buf_put_fmt(out, "%s# within git directories, which are found by name and by shape\n",
                    user_n ? "\n" : "");
        for (size_t i = 0; i < file_class_git_rows_n; i++)
                line(out, file_class_git_rows[i].class, file_class_git_rows[i].pattern,
                     file_class_git_rows[i].why);
        buf_put_str(out, "\n# anywhere; the first row that holds decides, the rest is plain\n");
        const struct file_class_row *r;
        for (size_t i = 0; (r = file_class_row_at(i)); i++)
                line(out, r->class, r->pattern, r->why);
        keys(out, "keys of a git configuration that are plain", git_config_plain_at);
        keys(out, "keys that are known not to be; others are not plain either",
             git_config_known_at);
}
