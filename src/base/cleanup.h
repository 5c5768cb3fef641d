/* cleanup.h - ownership that ends with the scope.
 *
 * Declare a variable with one of the _cleanup_*_ words and it is released on every way out of the
 * block; take_fd() and take_ptr() hand it on instead. Included by whatever acquires something. */
#ifndef BASE_CLEANUP_H
#define BASE_CLEANUP_H

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static inline void cleanup_close(int *fd)
{
        if (*fd >= 0)
                close(*fd);
}

static inline void cleanup_free(void *p)
{
        free(*(void **)p);
}

static inline void cleanup_fclose(FILE **f)
{
        if (*f)
                fclose(*f);
}

static inline void cleanup_closedir(DIR **d)
{
        if (*d)
                closedir(*d);
}

#define _cleanup_close_    __attribute__((cleanup(cleanup_close)))
#define _cleanup_free_     __attribute__((cleanup(cleanup_free)))
#define _cleanup_fclose_   __attribute__((cleanup(cleanup_fclose)))
#define _cleanup_closedir_ __attribute__((cleanup(cleanup_closedir)))

/* take_fd(&fd): the descriptor is the caller's now; ${fd} becomes -1 and its clean-up does nothing.
 */
static inline int take_fd(int *fd)
{
        int got = *fd;
        *fd = -1;
        return got;
}

/* take_ptr(&p): the same for memory. */
#define take_ptr(pp)                                                                               \
        ({                                                                                         \
                __typeof__(*(pp)) taken_ = *(pp);                                                  \
                *(pp) = NULL;                                                                      \
                taken_;                                                                            \
        })

/* close_fd(&fd): close now and forget, for descriptors that live in a struct. */
static inline void close_fd(int *fd)
{
        cleanup_close(fd);
        *fd = -1;
}

#endif
