// What --emit writes for clusters, without a cluster: documents by their schemas, pods by kubernetes-models, scripts by
// bash with commands in Slurm's place, and every argument by the engines' documented flags (tests/unit/emit_readers.h).
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import Ajv from "ajv";
import yaml from "js-yaml";
import { Deployment, StatefulSet } from "kubernetes-models/apps/v1";
import { ConfigMap, PodTemplate, Service } from "kubernetes-models/v1";
import { sbatch, schemas, srun } from "./schemas.mjs";

const program = process.env.CHALKLINE ?? "./chalkline";
const root = new URL("../../", import.meta.url).pathname;
const valid = Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, new Ajv({ strict: false, allErrors: true }).compile(schema)]));

// ---- what engines document ----------------------------------------------------------------------------

// { "--flag", values } of each engine.
function documentedFlags() {
  const header = readFileSync(root + "tests/unit/emit_readers.h", "utf8");
  const flags = {};
  for (const [, engine, body] of header.matchAll(/\[(VLLM|SGLANG|TRTLLM)\] = \{([^;]*?)\} \},?\s*(?=\[|\};)/g))
    flags[engine.toLowerCase()] = new Map([...(body + "}").matchAll(/\{ "(-[^"]+)", (-?\d+) \}/g)].map(([, name, values]) => [name, +values]));
  return flags;
}
const documented = documentedFlags();
// Of Dynamo's workers beside their engine's: ai-dynamo/dynamo examples/backends/vllm/deploy/v1beta1.
const ofDynamo = new Map([["--model", 1], ["--disaggregation-mode", 1], ["--http-port", 1]]);

function checkArguments(words, engine, beside = new Map()) {
  let flags = 0;
  for (let i = 0; i < words.length; i++) {
    if (!/^--?[a-z]/.test(words[i]) || (i === 1 && words[i] === "-m"))
      continue;
    const values = documented[engine].get(words[i]) ?? beside.get(words[i]);
    assert.notEqual(values, undefined, `${engine} has no flag ${words[i]}`);
    let given = 0;
    while (i + given + 1 < words.length && !words[i + given + 1].startsWith("--"))
      given++;
    assert.ok(values < 0 ? given > 0 : given === values, `${words[i]} has ${given} values`);
    flags++;
    i += given;
  }
  assert.ok(flags > 2, words.join(" "));
}

// Words as a shell splits them.
function shellWords(text) {
  return execFileSync("sh", ["-c", `eval "set -- $TEXT"; printf '%s\\n' "$@"`], { env: { ...process.env, TEXT: text } })
    .toString().trimEnd().split("\n");
}

// ---- asking -------------------------------------------------------------------------------------------

const dense = "plan qwen3-32b --precision fp8 --on h200 --gpus 32 --isl 4000 --osl 500 --ttft 300ms --tpot 10ms";
const experts = "plan deepseek-v3 --on h200-sxm --gpus 16 --isl 4000 --osl 500 --ttft 2s --tpot 40ms --kv-precision fp8";
const wide = "plan deepseek-v3 --on h200-sxm --gpus 16 --isl 4000 --osl 500 --set chips=16 --set attention_dp=16 --aggregated";

function ask(question, target) {
  const done = spawnSync(program, [...question.split(" "), "--emit", target], { encoding: "utf8" });
  return { ok: done.status === 0, text: done.stdout, error: done.stderr };
}

function emit(question, target) {
  const answer = ask(question, target);
  assert.ok(answer.ok, `${question} --emit ${target}: ${answer.error}`);
  return answer.text;
}

const documents = (text) => yaml.loadAll(text);

function check(kind, doc) {
  assert.ok(valid[kind](doc), `${kind}: ${JSON.stringify(valid[kind].errors?.slice(0, 3))}`);
}

// ---- pods ---------------------------------------------------------------------------------------------

// Names of fields, which kubernetes-models declares and does not ask for.
function fieldsOf(kind) {
  const text = readFileSync(new URL(`node_modules/kubernetes-models/v1/${kind}.d.ts`, import.meta.url), "utf8");
  return new Set([...text.matchAll(/^ {4}"?([A-Za-z]+)"?\??:/gm)].map(([, name]) => name));
}
const fields = { pod: fieldsOf("PodSpec"), container: fieldsOf("Container"), variable: fieldsOf("EnvVar"), probe: fieldsOf("Probe") };

function checkFields(value, known) {
  for (const key of Object.keys(value))
    assert.ok(known.has(key), `no field ${key}`);
}

function checkPod(spec, image = true) {
  new PodTemplate({ metadata: { name: "pod" }, template: { spec } }).validate();
  checkFields(spec, fields.pod);
  for (const container of spec.containers) {
    checkFields(container, fields.container);
    assert.ok(!image || container.image);
    for (const variable of container.env ?? [])
      checkFields(variable, fields.variable);
    for (const probe of ["startupProbe", "readinessProbe"])
      checkFields(container[probe] ?? {}, fields.probe);
  }
}

const gpus = (container) => container.resources.limits["nvidia.com/gpu"];
const number = (words, flag) => +(words[words.indexOf(flag) + 1 || words.length] ?? 1);
// GPUs of a server, by its own flags.
const vllmGpus = (words) => number(words, "--tensor-parallel-size") * number(words, "--pipeline-parallel-size") * number(words, "--data-parallel-size");

// ---- targets ------------------------------------------------------------------------------------------

test("Kubernetes objects are valid", () => {
  const kinds = { Service, Deployment, StatefulSet, ConfigMap };
  let pods = 0;
  for (const question of [dense, experts, wide, `${dense} --engine trtllm`, `${experts} --engine sglang`])
    for (const doc of documents(emit(question, "k8s"))) {
      if (kinds[doc.kind])
        new kinds[doc.kind](doc).validate();
      else
        check("LeaderWorkerSet", doc);
      const group = doc.spec?.leaderWorkerTemplate;
      for (const template of [doc.spec?.template, group?.leaderTemplate, group?.workerTemplate].filter(Boolean)) {
        checkPod(template.spec);
        pods++;
      }
    }
  assert.ok(pods > 8);
});

test("Dynamo's graphs are valid, and their workers have documented flags", () => {
  let nodes = 0;
  for (const [question, engine] of [[dense, "vllm"], [experts, "vllm"], [wide, "vllm"], [`${dense} --engine sglang`, "sglang"], [`${experts} --engine sglang`, "sglang"]]) {
    const [graph, ...more] = documents(emit(question, "dynamo"));
    assert.equal(more.length, 0);
    check("DynamoGraphDeployment", graph);
    assert.equal(graph.spec.backendFramework, engine);
    assert.deepEqual(graph.spec.components.filter((one) => one.type === "frontend").length, 1);
    for (const component of graph.spec.components) {
      const [container] = component.podTemplate.spec.containers;
      checkPod(component.podTemplate.spec);
      assert.equal(container.name, "main");
      assert.deepEqual(container.command.slice(0, 2), ["python3", "-m"]);
      assert.equal(container.command[2], component.type === "frontend" ? "dynamo.frontend" : `dynamo.${engine}`);
      if (component.type === "frontend")
        continue;
      checkArguments(container.args, engine, ofDynamo);
      if (component.type !== "worker")
        assert.equal(container.args[container.args.indexOf("--disaggregation-mode") + 1], component.type);
      const hosts = component.multinode?.nodeCount ?? 1;
      nodes = Math.max(nodes, hosts);
      if (engine === "vllm")
        assert.equal(gpus(container) * hosts, vllmGpus(container.args));
    }
  }
  assert.equal(nodes, 2);
});

test("values of llm-d's chart are valid, and the GPUs are those of the flags", () => {
  for (const [question, pools] of [[dense, true], [`${dense} --aggregated`, false], [experts, true], [wide, false]]) {
    const [values] = documents(emit(question, "llm-d"));
    check("llm-d", values);
    assert.equal(values.prefill.create, pools);
    assert.equal(values.routing.proxy.enabled, pools);
    for (const [role, group] of Object.entries({ decode: values.decode, prefill: pools ? values.prefill : undefined })) {
      if (!group)
        continue;
      const [{ command, args, modelCommand, mountModelVolume, ...container }] = group.containers;
      checkPod({ containers: [container] });
      const several = group.parallelism.workers > 1;
      assert.equal(several, values.multinode);
      const commands = several ? args[0].match(/exec (.*); else exec (.*); fi$/).slice(1).map(shellWords) : [command];
      if (several)
        assert.equal(spawnSync("bash", ["-n", "-c", args[0]]).status, 0);
      for (const words of commands) {
        assert.deepEqual(words.slice(0, 2), ["vllm", "serve"]);
        checkArguments(words, "vllm");
        assert.equal(gpus(container) * group.parallelism.workers, vllmGpus(words));
      }
      assert.equal(commands[0][commands[0].indexOf("--port") + 1], pools && role === "decode" ? "8200" : "8000");
    }
  }
});

test("KServe's services are valid, and what its template passes on is documented", () => {
  for (const question of [dense, `${dense} --aggregated`, experts, wide]) {
    const [service] = documents(emit(question, "kserve"));
    check("LLMInferenceService", service);
    for (const group of [service.spec, service.spec.prefill].filter(Boolean))
      for (const pod of [group.template, group.worker].filter(Boolean)) {
        checkPod(pod, false);
        const [container] = pod.containers;
        assert.equal(container.name, "main");
        const words = shellWords(container.env.find((one) => one.name === "VLLM_ADDITIONAL_ARGS").value);
        checkArguments(words, "vllm");
        const { data = 1, dataLocal = 1 } = group.parallelism ?? {};
        assert.equal(!!group.worker, data > dataLocal);
        assert.equal(gpus(container) * (data / dataLocal), vllmGpus(words));
      }
  }
});

test("Ray's applications are valid, and keywords are flags of vLLM", () => {
  const builders = new Set();
  for (const question of [dense, `${dense} --aggregated`, wide]) {
    const [file] = documents(emit(question, "ray"));
    check("ray", file);
    const [{ import_path, args }] = file.applications;
    builders.add(import_path);
    for (const config of args.llm_configs ?? [args.llm_config ?? args.prefill_config, args.decode_config].filter(Boolean)) {
      const words = Object.entries(config.engine_kwargs).flatMap(([key, value]) =>
        ["--" + key.replaceAll("_", "-"), ...(value === true ? [] : [typeof value === "object" ? JSON.stringify(value) : `${value}`])]);
      checkArguments(words, "vllm");
      assert.equal(config.accelerator_type, "H200");
    }
  }
  assert.equal(builders.size, 3);
});

// Programs in the place of Slurm's: the job's hosts, and the words of each step.
function runScript(text, hosts) {
  const folder = mkdtempSync(join(tmpdir(), "chalkline-slurm-"));
  const put = (name, body) => { writeFileSync(join(folder, name), body); chmodSync(join(folder, name), 0o700); };
  put("scontrol", `#!/bin/sh\nfor i in $(seq 1 ${hosts}); do echo node-$i; done\n`);
  put("srun", "#!/bin/bash\nprintf '%s\\x1f' \"$@\" | (flock 9; cat; echo) 9>>lock >>steps\n");
  put("script", text);
  const done = spawnSync("bash", ["script"], { cwd: folder, encoding: "utf8", env: { ...process.env, PATH: `${folder}:${process.env.PATH}`, SLURM_JOB_NODELIST: "nodes" } });
  const steps = readFileSync(join(folder, "steps"), "utf8").trimEnd().split("\n").map((line) => line.split("\x1f").slice(0, -1));
  rmSync(folder, { recursive: true });
  assert.equal(done.status, 0, done.stderr);
  return steps;
}

test("Slurm's scripts start every server on the job's hosts", () => {
  for (const [question, engine, router] of [[dense, "vllm", true], [wide, "vllm", false], [`${experts} --engine sglang`, "sglang", true],
                                            [`${dense} --engine trtllm --aggregated`, "trtllm", false],
                                            [`${wide} --engine trtllm`, "trtllm", false]]) {
    const text = emit(question, "slurm");
    const lines = text.split("\n"), stated = lines.filter((line) => line.startsWith("#SBATCH "));
    assert.equal(lines[0], "#!/bin/bash");
    assert.equal(spawnSync("bash", ["-n"], { input: text }).status, 0);
    const options = Object.fromEntries(stated.map((line) => line.match(/^#SBATCH --([a-z-]+)(?:=(\S+))?$/).slice(1)));
    for (const name of Object.keys(options))
      assert.ok(sbatch.includes(name), name);
    assert.ok(lines.findIndex((line) => line && !line.startsWith("#")) > lines.lastIndexOf(stated.at(-1)));
    const used = new Set();
    let total = 0, routers = 0;
    for (const step of runScript(text, +options.nodes)) {
      const at = step.findIndex((word) => !word.startsWith("--"));
      const given = Object.fromEntries(step.slice(0, at).map((word) => word.match(/^--([a-z-]+)(?:=(.*))?$/).slice(1)));
      let words = step.slice(at);
      for (const name of Object.keys(given))
        assert.ok(srun.includes(name), name);
      given.nodelist.split(",").forEach((host) => used.add(host));
      assert.equal(given.nodelist.split(",").length, +given.nodes);
      if (words[0] === "env")
        words = words.slice(words.findIndex((word, i) => i && !/^[A-Z_]+=/.test(word)));
      if (words[0] === "trtllm-llmapi-launch")
        words = words.slice(1);
      assert.ok(!words.some((word) => word.includes("$")), words.join(" "));
      checkArguments(words, engine);
      if (words.some((word) => /proxy|router/.test(word))) {
        routers++;
        continue;
      }
      if (engine === "vllm")
        total += vllmGpus(words) / number(words, "--nnodes") * (words.includes("--data-parallel-size-local") ? number(words, "--data-parallel-size-local") / number(words, "--data-parallel-size") : 1);
      else if (engine === "trtllm")
        total += number(words, "--tp_size") * number(words, "--pp_size");
    }
    assert.equal(routers, router ? 1 : 0);
    assert.equal(used.size, +options.nodes);
    if (engine !== "sglang")
      assert.equal(total, options.nodes * options["gpus-per-node"]);
  }
});

test("what a target or an engine cannot start is refused, with a way out", () => {
  for (const [question, target, why, way] of [
    [`${dense} --engine sglang`, "kserve", "for SGLang is not known", "--engine vllm"],
    [`${dense} --engine trtllm`, "dynamo", "for TensorRT-LLM is not known", "--engine vllm sglang"],
    [experts, "ray", "no documented attention ranks", "--emit k8s"],
    [`${dense} --set chips=16 --set pipeline_parallel=2 --aggregated`, "kserve", "whole attention ranks only", "--emit k8s"],
    [`${dense} --set chips=16 --set pipeline_parallel=2`, "dynamo", "pools must have no pipeline stages (V17)", "--any-layout"],
  ]) {
    const answer = ask(question, target);
    assert.ok(!answer.ok && answer.error.includes(why) && answer.error.includes(way), `${question} --emit ${target}: ${answer.error}`);
  }
  assert.ok(ask(`${dense} --set chips=16 --set pipeline_parallel=2 --any-layout`, "vllm").ok);
});
