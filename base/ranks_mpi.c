/* Processes that answer together, over MPI: replaces ranks.c in a program built with MPI=1.
 *
 * MPI is initialized only if a launcher started the program (Open MPI's mpirun, or one that speaks
 * PMI or PMIx), so that the same program runs alone. Long messages are sent in pieces, since MPI
 * counts bytes in an int. An error of one rank is agreed on by all, so that none waits forever. */
#include "base/ranks.h"

#include <mpi.h>
#include <stdlib.h>

/* Bytes of one message; MPI counts them in an int. */
enum { MESSAGE_MOST = 1 << 30 };

/* Set by Open MPI's mpirun, by what speaks PMIx or PMI (Slurm's srun, MPICH). */
static bool launched(void)
{
    return getenv("OMPI_COMM_WORLD_SIZE") || getenv("PMIX_RANK") || getenv("PMI_RANK");
}

void ranks_open(struct ranks *ranks)
{
    int level;
    *ranks = (struct ranks){ 0, 1 };
    if (!launched())
        return;
    setenv("NO_COLOR", "1", 0);         /* the terminal that mpirun gives a rank is not the reader's */
    MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &ranks->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks->count);
}

static bool running(void)
{
    int begun;
    MPI_Initialized(&begun);
    return begun;
}

void ranks_close(const struct ranks *ranks)
{
    (void)ranks;
    if (running())
        MPI_Finalize();
}

void ranks_abort(const struct ranks *ranks, int status)
{
    if (ranks->count > 1)
        MPI_Abort(MPI_COMM_WORLD, status);
}

bool ranks_agree(const struct ranks *ranks, bool good, struct error *error)
{
    if (ranks_alone(ranks))
        return good;
    int first = good ? ranks->count : ranks->rank, failed = !good;
    MPI_Allreduce(MPI_IN_PLACE, &first, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (!failed)
        return true;
    MPI_Bcast(error, (int)sizeof *error, MPI_BYTE, first, MPI_COMM_WORLD);
    const struct error one = *error;
    if (failed == ranks->count)
        return false;
    error_set(error, "rank %d of %d: %s", first, ranks->count, one.what);
    return error_hint_of(error, &one);
}

struct text *ranks_gather(const struct ranks *ranks, struct arena *arena, struct text mine)
{
    const int count = ranks_alone(ranks) ? 1 : ranks->count;
    struct text *all = arena_array(arena, (size_t)count, sizeof *all);
    all[count > 1 ? ranks->rank : 0] = mine;
    for (int rank = 0; rank < count && count > 1; rank++) {
        uint64_t size = mine.size;
        MPI_Bcast(&size, 1, MPI_UINT64_T, rank, MPI_COMM_WORLD);
        char *data = rank == ranks->rank ? (char *)mine.data : arena_alloc(arena, size + 1);
        for (size_t at = 0; at < size; at += MESSAGE_MOST) {
            const size_t part = size - at < MESSAGE_MOST ? size - at : MESSAGE_MOST;
            MPI_Bcast(data + at, (int)part, MPI_BYTE, rank, MPI_COMM_WORLD);
        }
        all[rank] = (struct text){ data, size };
    }
    return all;
}
