/* No group: every request that decodes is looked at in each step. */
#include "sim/schedulers/vllm.h"

bool vllm_groups(const struct vllm *vllm)
{
    return (void)vllm, false;
}

void vllm_group_open(struct arena *arena, const struct vllm *vllm, struct rank *rank)
{
    (void)arena, (void)vllm, (void)rank;
}

void vllm_loosen(const struct vllm *vllm, struct rank *rank, uint32_t id)
{
    (void)vllm, (void)rank, (void)id;
}

void vllm_fasten(struct rank *rank, uint32_t id)
{
    (void)rank, (void)id;
}

bool vllm_group_join(struct vllm *vllm, struct rank *rank)
{
    return (void)vllm, (void)rank, false;
}

void vllm_group_leave(struct vllm *vllm, struct rank *rank, uint32_t id)
{
    (void)vllm, (void)rank, (void)id;
}

void vllm_group_shed(struct vllm *vllm, struct rank *rank)
{
    (void)vllm, (void)rank;
}

bool vllm_group_form(struct vllm *vllm, struct rank *rank)
{
    return (void)vllm, (void)rank, false;
}

size_t vllm_group_takes(const struct vllm *vllm, const struct rank *rank, size_t turn)
{
    return (void)vllm, (void)rank, (void)turn, 0;
}

void vllm_group_launched(const struct vllm *vllm, struct rank *rank, uint64_t steps)
{
    (void)vllm, (void)rank, (void)steps;
}

void vllm_group_take(struct vllm *vllm, struct rank *rank, uint64_t turns, bool name)
{
    (void)vllm, (void)rank, (void)turns, (void)name;
}

void vllm_group_name(struct vllm *vllm, struct rank *rank)
{
    (void)vllm, (void)rank;
}
