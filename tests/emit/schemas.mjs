// Schemas of the documents that --emit writes, strict: a field that is not listed is an error. Pods are checked by
// kubernetes-models beside them.
//
//   DynamoGraphDeployment  ai-dynamo/dynamo deploy/operator/api/v1beta1/dynamographdeployment_types.go @0fddc01 and
//                          dynamocomponentdeployment_types.go
//   LLMInferenceService    kserve/kserve pkg/apis/serving/v1alpha1/llm_inference_service_types.go @01bfd23
//   values of llm-d        llm-d-incubation/llm-d-modelservice charts/llm-d-modelservice/values.yaml @024c0f2
//   LLMConfig of Ray       Ray documentation: Configuration reference of Ray Serve LLM; Serve config files
//   LeaderWorkerSet        kubernetes-sigs/lws api/leaderworkerset/v1
const text = { type: "string" }, flag = { type: "boolean" };
const count = (least) => ({ type: "integer", minimum: least });
const object = (properties, ...required) => ({ type: "object", properties, required, additionalProperties: false });
const list = (items, least = 0) => ({ type: "array", items, minItems: least });
const map = (values) => ({ type: "object", additionalProperties: values });
const any = {};

const name = { type: "string", maxLength: 63, pattern: "^[a-z]([-a-z0-9]*[a-z0-9])?$" };
const metadata = object({ name, labels: map(text), annotations: map(text) }, "name");
const document = (apiVersion, kind, spec) =>
  object({ apiVersion: { const: apiVersion }, kind: { const: kind }, metadata, spec }, "apiVersion", "kind", "metadata", "spec");

const component = object({
  name: { type: "string", minLength: 1, maxLength: 63, pattern: "^[A-Za-z0-9]([-A-Za-z0-9]*[A-Za-z0-9])?$" },
  type: { enum: ["frontend", "worker", "prefill", "decode", "planner", "epp"] },
  runtimeVersion: { type: "string", pattern: "^(0|[1-9][0-9]*)\\.(0|[1-9][0-9]*)\\.(0|[1-9][0-9]*)$" },
  globalDynamoNamespace: flag, podTemplate: any, replicas: count(0), multinode: object({ nodeCount: count(2) }, "nodeCount"),
  sharedMemorySize: text, modelRef: any, scalingAdapter: any, frontendSidecar: text, compilationCache: any,
  topologyConstraint: any, experimental: any,
}, "name");

const workload = {
  replicas: count(0), scaling: any, labels: map(text), annotations: map(text), template: any, worker: any, rolloutStrategy: any,
  parallelism: object({ tensor: count(1), pipeline: count(1), data: count(1), dataLocal: count(1), expert: flag,
                        dataRPCPort: { type: "integer", minimum: 1, maximum: 65535 } }),
};

const group = object({
  create: flag, autoscaling: any, replicas: count(0), nodeSelector: any, schedulerName: text, resourceClaims: any, volumes: any,
  parallelism: object({ tensor: count(1), data: count(1), dataLocal: count(1), workers: count(1) }),
  containers: list(object({
    name: text, image: text, modelCommand: { enum: ["vllmServe", "imageDefault", "custom"] }, command: list(text, 1),
    args: list(text), env: any, imagePullPolicy: text, ports: any, resources: any, mountModelVolume: flag, volumeMounts: any,
  }, "image"), 1),
  initContainers: any, hostIPC: flag, hostPID: flag, acceleratorTypes: any, monitoring: any, extraConfig: any,
});

const config = object({
  model_loading_config: object({ model_id: text, model_source: any, tokenizer_source: text }, "model_id"),
  engine_kwargs: { type: "object" }, accelerator_config: any, placement_group_config: any, lora_config: any,
  runtime_env: any, llm_engine: text, experimental_configs: any, callback_config: any, log_engine_metrics: flag,
  accelerator_type: { enum: ["H100", "H200", "H20", "B200", "A100", "A100-40G", "A100-80G", "L4", "L40S", "A10G",
                             "AMD-Instinct-MI300X-OAM", "AMD-Instinct-MI325X-OAM", "AMD-Instinct-MI355X-OAM"] },
  deployment_config: object({
    name: text, num_replicas: count(1), ray_actor_options: any, max_ongoing_requests: count(1), autoscaling_config: any,
    max_queued_requests: any, user_config: any, health_check_period_s: any, health_check_timeout_s: any,
    graceful_shutdown_wait_loop_s: any, graceful_shutdown_timeout_s: any, logging_config: any, request_router_config: any,
  }),
}, "model_loading_config");
const application = (path, args) => object({
  name: text, route_prefix: { type: "string", pattern: "^/" }, import_path: { const: path }, args, runtime_env: any,
}, "name", "import_path", "args");

export const schemas = {
  DynamoGraphDeployment: document("nvidia.com/v1beta1", "DynamoGraphDeployment", object({
    annotations: map(text), labels: map(text), priorityClassName: text, components: { ...list(component, 1), maxItems: 25 },
    env: any, backendFramework: { enum: ["sglang", "vllm", "trtllm"] }, topologyConstraint: any, experimental: any,
  })),
  LLMInferenceService: document("serving.kserve.io/v1alpha1", "LLMInferenceService", object({
    model: object({ uri: { type: "string", pattern: "^(hf|s3|pvc|oci)://" }, name: text, criticality: any, lora: any }, "uri"),
    runtime: text, trustRemoteCode: flag, storageInitializer: object({ enabled: flag }), ...workload,
    router: object({ route: any, gateway: any, ingress: any, scheduler: any }), prefill: object(workload), tracing: any, baseRefs: any,
  }, "model")),
  LeaderWorkerSet: document("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", object({
    replicas: count(0), rolloutStrategy: any, startupPolicy: any, networkConfig: any,
    leaderWorkerTemplate: object({
      leaderTemplate: any, workerTemplate: any, size: count(1), resourceClaimTemplates: any, subGroupPolicy: any,
      restartPolicy: { enum: ["RecreateGroupOnPodRestart", "None", "Default"] },
    }, "workerTemplate"),
  }, "leaderWorkerTemplate")),
  "llm-d": object({
    common: any, enabled: flag, fullnameOverride: { ...name, maxLength: 55 }, serviceAccountOverride: text, schedulerName: text,
    modelArtifacts: object({ name: text, labels: map(text), uri: { type: "string", pattern: "^(hf|pvc|pvc\\+hf|oci)://" }, size: text,
                             authSecretName: text, mountPath: text }, "name", "uri"),
    multinode: flag, accelerator: object({ type: { enum: ["nvidia", "amd", "google", "intel-i915", "intel-xe", "intel-gaudi"] },
                                           dra: flag, resources: any, env: any, resourceClaimTemplates: any }),
    requester: any, routing: object({ servicePort: count(1), proxy: object({
      enabled: flag, image: text, imagePullPolicy: text, targetPort: count(1), connector: text, secure: flag,
    }) }),
    decode: group, prefill: group, extraObjects: any, global: any,
  }, "modelArtifacts", "decode"),
  ray: object({ applications: list({ anyOf: [
    application("ray.serve.llm:build_openai_app", object({ llm_configs: list(config, 1) }, "llm_configs")),
    application("ray.serve.llm:build_dp_openai_app", object({ llm_config: config }, "llm_config")),
    application("ray.serve.llm:build_pd_openai_app",
                object({ prefill_config: config, decode_config: config }, "prefill_config", "decode_config")),
  ] }, 1) }, "applications"),
};

// Options of sbatch that a script may state, and of srun: Slurm documentation, sbatch and srun.
export const sbatch = ["job-name", "nodes", "gpus-per-node", "exclusive", "ntasks-per-node", "time", "partition", "account"];
export const srun = ["overlap", "mpi", "nodes", "ntasks", "ntasks-per-node", "nodelist"];
