/* What one request of vLLM's scheduler is in a step: its priority class, and the tokens that it lacks. */
#include "sim/schedulers/vllm.h"

size_t vllm_class_of(const struct vllm *vllm, uint32_t id)
{
    return vllm->priority_classes > 1 ? vllm->replica.simulation->trace->priority_class[id] : 0;
}

size_t vllm_class_most(const struct vllm *vllm, size_t priority_class)
{
    const struct sim_server *server = vllm->replica.server;
    size_t most = server->class_most[priority_class];
    return most ? most : server->max_num_seqs;
}

uint32_t vllm_tokens_left(const struct vllm *vllm, uint32_t id)
{
    const struct vllm_request *request = &vllm->shared->requests[id];
    if (request->known + request->in_flight >= simulation_total(vllm->replica.simulation, id) ||
        (vllm->stages > 1 && request->in_flight))
        return 0;                                   /* what is in flight ends it, or goes first */
    uint32_t left = request->known + request->pending - request->computed;
    return left == 1 && request->guesses ? left + (uint32_t)vllm->replica.server->draft : left;
}

/* Is this a decode: one token and its draft tokens after all known ones, and no part of a prompt? */
bool vllm_decodes(const struct vllm *vllm, uint32_t id, uint32_t tokens)
{
    const struct vllm_request *request = &vllm->shared->requests[id];
    return request->computed >= vllm->replica.simulation->trace->prompt[id] &&
           request->computed + 1 == request->known + request->pending &&
           tokens <= 1 + vllm->replica.server->draft;
}
