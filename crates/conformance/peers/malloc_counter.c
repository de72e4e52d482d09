/* Counts the calls that allocate, of all threads, in a file that anybody may read at any time.
 *
 * LD_PRELOAD it; MALLOC_COUNT names a file of eight bytes, which it maps and counts in (native byte order). What is
 * allocated before the file is mapped is not counted. Freeing is not counted either. glibc only.
 *
 * A program that is linked with another allocator, as nghttpd is with jemalloc, gets glibc's: so freeing is here too, and what
 * such an allocator has of C++'s operators.
 *
 * Build: cc -O2 -fPIC -shared -o malloc_counter.so malloc_counter.c
 */
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);
extern void __libc_free(void *);

static _Atomic uint64_t unmapped;
static _Atomic uint64_t *calls = &unmapped;

__attribute__((constructor)) static void map_the_file(void)
{
    const char *path = getenv("MALLOC_COUNT");
    int file = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
    if (file < 0)
        return;
    void *page = mmap(NULL, sizeof *calls, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    if (page != MAP_FAILED)
        calls = page;
}

static void count(void)
{
    atomic_fetch_add_explicit(calls, 1, memory_order_relaxed);
}

void *malloc(size_t size)
{
    count();
    return __libc_malloc(size);
}

void *calloc(size_t members, size_t size)
{
    count();
    return __libc_calloc(members, size);
}

void *realloc(void *old, size_t size)
{
    count();
    return __libc_realloc(old, size);
}

void *memalign(size_t alignment, size_t size)
{
    count();
    return __libc_memalign(alignment, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
    count();
    return __libc_memalign(alignment, size);
}

int posix_memalign(void **out, size_t alignment, size_t size)
{
    count();
    void *memory = __libc_memalign(alignment, size);
    if (!memory)
        return ENOMEM;
    *out = memory;
    return 0;
}

void free(void *memory)
{
    __libc_free(memory);
}

/* operator new(size_t), and the one for arrays. No program here goes on without memory. */
void *_Znwm(size_t size)
{
    void *memory = malloc(size);
    if (!memory)
        abort();
    return memory;
}

void *_Znam(size_t size)
{
    return _Znwm(size);
}

/* operator delete, and the one for arrays, both without and with the size. */
void _ZdlPv(void *memory)
{
    __libc_free(memory);
}

void _ZdaPv(void *memory)
{
    __libc_free(memory);
}

void _ZdlPvm(void *memory, size_t size)
{
    (void)size;
    __libc_free(memory);
}

void _ZdaPvm(void *memory, size_t size)
{
    (void)size;
    __libc_free(memory);
}
