import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { loadConfig } from '../../src/config/config.ts';
import { listenAdmin } from '../../src/server/admin.ts';
import { consumerTest, installed } from '../support/consumer.ts';
import { openGateway } from '../support/gateway.ts';

const folder = new URL('../../deploy/kubernetes/', import.meta.url);
const read = async (file: string) => parse(await readFile(new URL(file, folder), 'utf8'));
const schemas: Readonly<Record<string, string>> = {
  'apps/v1 Deployment': 'IoK8sApiAppsV1Deployment',
  'autoscaling/v2 HorizontalPodAutoscaler': 'IoK8sApiAutoscalingV2HorizontalPodAutoscaler',
  'policy/v1 PodDisruptionBudget': 'IoK8sApiPolicyV1PodDisruptionBudget',
  'v1 Service': 'IoK8sApiCoreV1Service',
};
const manifests = (await readdir(folder)).filter((file) => file !== 'kustomization.yaml');

describe('the Kubernetes manifests', () => {
  consumerTest.each(manifests)('%s is valid and has no unknown fields', async (file) => {
    const manifest = await read(file);
    const schema = schemas[`${manifest.apiVersion} ${manifest.kind}`];
    const models = join(installed, 'node_modules/kubernetes-models/_schemas');
    const { validate } = await import(`${models}/${schema}.js`);
    const { proxy, unread } = recordReads(manifest);
    validate(proxy);
    expect(validate.errors).toBeNull();
    expect(unread()).toEqual([]);
  });

  it('are all listed in kustomization.yaml', async () => {
    const { resources } = await read('kustomization.yaml');
    expect(resources.toSorted()).toEqual(manifests.toSorted());
  });

  it('select the pods of the deployment', async () => {
    const { spec } = await read('deployment.yaml');
    const { labels } = spec.template.metadata;
    expect(spec.selector.matchLabels).toEqual(labels);
    expect((await read('service.yaml')).spec.selector).toEqual(labels);
    const budget = await read('pod-disruption-budget.yaml');
    expect(budget.spec.selector.matchLabels).toEqual(labels);
    const [spread] = spec.template.spec.topologySpreadConstraints;
    expect(spread.labelSelector.matchLabels).toEqual(labels);
  });

  it('probe paths of the admin port, which no client can fill', async () => {
    await using opened = await openGateway();
    const address = { adminHost: '127.0.0.1', adminPort: 0 };
    const { environment, metrics, health } = opened;
    const admin = await listenAdmin(environment, metrics, health, address);
    const { spec } = (await read('deployment.yaml')).spec.template;
    const [{ ports, startupProbe, livenessProbe, readinessProbe }] = spec.containers;
    for (const { httpGet } of [startupProbe, livenessProbe, readinessProbe]) {
      expect(httpGet.port).toBe(ports[1].name);
      expect((await fetch(admin?.url + httpGet.path)).status).toBe(200);
    }
    await admin?.close(0);
    expect(ports[0].containerPort).toBe(loadConfig({}).port);
  });

  it('expose the port of the metrics to Prometheus', async () => {
    const deployment = await read('deployment.yaml');
    const [{ ports, env }] = deployment.spec.template.spec.containers;
    const port = ports.find(({ name }: { readonly name: string }) => name === 'admin');
    expect(env).toEqual([{ name: 'ADMIN_PORT', value: String(port.containerPort) }]);
    const { spec, ...monitor } = await read('../prometheus/pod-monitor.yaml');
    expect(monitor).toMatchObject({ apiVersion: 'monitoring.coreos.com/v1', kind: 'PodMonitor' });
    expect(spec.selector).toEqual(deployment.spec.selector);
    expect(spec.podMetricsEndpoints).toEqual([
      { port: port.name, path: '/metrics', interval: expect.stringMatching(/^\d+s$/) },
    ]);
  });

  it('scale the deployment, which does not set replicas', async () => {
    const { apiVersion, kind, metadata, spec } = await read('deployment.yaml');
    const autoscaler = await read('horizontal-pod-autoscaler.yaml');
    const target = { apiVersion, kind, name: metadata.name };
    expect(autoscaler.spec.scaleTargetRef).toEqual(target);
    expect(spec.replicas).toBeUndefined();
  });

  it('give a pod enough time to shut down', async () => {
    const { spec } = (await read('deployment.yaml')).spec.template;
    const delaySeconds = spec.containers[0].lifecycle.preStop.sleep.seconds;
    const graceSeconds = loadConfig({}).shutdownGraceMs / 1000;
    expect(spec.terminationGracePeriodSeconds).toBeGreaterThan(delaySeconds + graceSeconds);
  });
});

/**
 * Wraps a value in a proxy that records which fields are read. A validator reads every field that
 * it knows, so an unread field is misspelt. The schemas themselves allow unknown fields.
 */
function recordReads<T extends object>(value: T, path = ''): { proxy: T; unread: () => string[] } {
  const parts = new Map<string | symbol, ReturnType<typeof recordReads>>();
  const read = new Set<string | symbol>();
  const proxy = new Proxy(value, {
    get(target, key) {
      read.add(key);
      const item = Reflect.get(target, key);
      if (typeof item !== 'object' || item === null) return item;
      const part = parts.get(key) ?? recordReads(item, `${path}/${String(key)}`);
      parts.set(key, part);
      return part.proxy;
    },
  });
  const unread = () => [
    ...Object.keys(value)
      .filter((key) => !read.has(key))
      .map((key) => `${path}/${key}`),
    ...[...parts.values()].flatMap((part) => part.unread()),
  ];
  return { proxy, unread };
}
