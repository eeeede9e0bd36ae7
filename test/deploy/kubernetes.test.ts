import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { loadConfig } from '../../src/config/config.ts';
import { listenAdmin } from '../../src/http/admin.ts';
import { consumerTest, installed } from '../support/consumer.ts';
import { openGateway } from '../support/gateway.ts';

const folder = new URL('../../deploy/kubernetes/', import.meta.url);
const read = async (file: string) => parse(await readFile(new URL(file, folder), 'utf8'));
const kubernetes = 'kubernetes-models/_schemas/IoK8sApi';
const traefik =
  '@kubernetes-models/traefik/_schemas/ComGithubTraefikTraefikV3PkgProviderKubernetesCrdTraefikio';
const schemas: Readonly<Record<string, string>> = {
  'apps/v1 Deployment': `${kubernetes}AppsV1Deployment`,
  'autoscaling/v2 HorizontalPodAutoscaler': `${kubernetes}AutoscalingV2HorizontalPodAutoscaler`,
  'networking.k8s.io/v1 NetworkPolicy': `${kubernetes}NetworkingV1NetworkPolicy`,
  'policy/v1 PodDisruptionBudget': `${kubernetes}PolicyV1PodDisruptionBudget`,
  'v1 Service': `${kubernetes}CoreV1Service`,
  'traefik.io/v1alpha1 IngressRoute': `${traefik}V1alpha1IngressRoute`,
  'traefik.io/v1alpha1 Middleware': `${traefik}V1alpha1Middleware`,
  'traefik.io/v1alpha1 ServersTransport': `${traefik}V1alpha1ServersTransport`,
};
const manifests = (await readdir(folder, { recursive: true })).filter(
  (file) => file.endsWith('.yaml') && file !== 'kustomization.yaml',
);

describe('the Kubernetes manifests', () => {
  consumerTest.each(manifests)('%s is valid and has no unknown fields', async (file) => {
    const manifest = await read(file);
    const schema = schemas[`${manifest.apiVersion} ${manifest.kind}`];
    const { validate } = await import(join(installed, 'node_modules', `${schema}.js`));
    const { proxy, unread } = recordReads(manifest);
    validate(proxy);
    expect(validate.errors).toBeNull();
    expect(unread()).toEqual([]);
  });

  it('are all listed in kustomization.yaml, except for those of Traefik', async () => {
    const { resources } = await read('kustomization.yaml');
    const everywhere = manifests.filter((file) => !file.startsWith('traefik/'));
    expect(resources.toSorted()).toEqual(everywhere.toSorted());
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
    const { metrics, health } = opened;
    const admin = await listenAdmin(opened, metrics, health, address);
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

  it('let only the namespace of Prometheus connect to the admin port', async () => {
    const deployment = await read('deployment.yaml');
    const [{ ports }] = deployment.spec.template.spec.containers;
    const { spec } = await read('network-policy.yaml');
    expect(spec.podSelector).toEqual(deployment.spec.selector);
    expect(spec.policyTypes).toEqual(['Ingress']);
    const [http, admin] = ports.map(({ name }: { readonly name: string }) => [{ port: name }]);
    const from = [{ namespaceSelector: { matchLabels: expect.any(Object) } }];
    expect(spec.ingress).toEqual([{ ports: http }, { from, ports: admin }]);
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

describe('the manifests of Traefik', () => {
  it('route to the port of the Service, which does not expose the admin port', async () => {
    const { spec } = await read('traefik/ingress-route.yaml');
    const [{ services, middlewares }] = spec.routes;
    const service = await read('service.yaml');
    expect(service.spec.ports).toEqual([{ name: 'http', port: 80, targetPort: 'http' }]);
    const { name } = service.metadata;
    const { name: serversTransport } = (await read('traefik/servers-transport.yaml')).metadata;
    expect(services).toEqual([{ name, port: 'http', serversTransport }]);
    const { metadata } = await read('traefik/middleware.yaml');
    expect(middlewares).toEqual([{ name: metadata.name }]);
  });

  it('compress and connect as nginx.conf does', async () => {
    const nginx = await readFile(new URL('../nginx.conf', folder), 'utf8');
    const setting = (directive: string) => new RegExp(` ${directive} (.*);`).exec(nginx)?.[1];
    const { compress } = (await read('traefik/middleware.yaml')).spec;
    expect(compress).toEqual({
      includedContentTypes: setting('gzip_types')?.split(' '),
      minResponseBodyBytes: Number(setting('gzip_min_length')),
    });
    expect((await read('traefik/servers-transport.yaml')).spec).toEqual({
      maxIdleConnsPerHost: Number(setting('keepalive')),
      forwardingTimeouts: {
        idleConnTimeout: setting('keepalive_timeout'),
        dialTimeout: setting('proxy_connect_timeout'),
      },
    });
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
