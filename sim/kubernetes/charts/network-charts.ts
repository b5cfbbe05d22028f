import type { ChartFacts } from './facts.ts'

/*
 * What the charts that presets use bring, at the versions that presets name, as far as others notice: what runs and how
 * it is labelled, what stands before it, what has to agree. `{release}` and `{namespace}` are filled in.
 */

const LINUX = { 'kubernetes.io/os': 'linux' }
const EVERYTHING = [{ operator: 'Exists' }]

export const NETWORK_CHARTS: Readonly<Record<string, ChartFacts>> = {
  cilium: {
    workloads: [
      {
        kind: 'DaemonSet',
        name: 'cilium',
        selector: { 'k8s-app': 'cilium' },
        podLabels: { 'app.kubernetes.io/name': 'cilium-agent', 'app.kubernetes.io/part-of': 'cilium' },
        priority: 'system-node-critical',
        tolerations: EVERYTHING,
        hostNetwork: true,
        nodeSelector: LINUX,
        apart: { 'k8s-app': 'cilium' },
        containers: ['cilium-agent'],
      },
      {
        kind: 'DaemonSet',
        name: 'cilium-envoy',
        selector: { 'k8s-app': 'cilium-envoy' },
        podLabels: {
          'app.kubernetes.io/name': 'cilium-envoy',
          'app.kubernetes.io/part-of': 'cilium',
          name: 'cilium-envoy',
        },
        priority: 'system-node-critical',
        tolerations: EVERYTHING,
        hostNetwork: true,
        nodeSelector: LINUX,
        apart: { 'k8s-app': 'cilium-envoy' },
        containers: ['cilium-envoy'],
      },
      {
        kind: 'Deployment',
        name: 'cilium-operator',
        selector: { 'io.cilium/app': 'operator', name: 'cilium-operator' },
        podLabels: { 'app.kubernetes.io/name': 'cilium-operator', 'app.kubernetes.io/part-of': 'cilium' },
        replicas: ['operator.replicas', 2],
        priority: 'system-cluster-critical',
        tolerations: [
          { key: 'node-role.kubernetes.io/control-plane', operator: 'Exists' },
          { key: 'node-role.kubernetes.io/master', operator: 'Exists' },
          { key: 'node.kubernetes.io/not-ready', operator: 'Exists' },
          { key: 'node.cloudprovider.kubernetes.io/uninitialized', operator: 'Exists' },
          { key: 'node.cilium.io/agent-not-ready', operator: 'Exists' },
        ],
        hostNetwork: true,
        nodeSelector: LINUX,
        apart: { 'io.cilium/app': 'operator' },
        containers: ['cilium-operator'],
      },
    ],
    services: [{ name: 'cilium-envoy', selector: { 'k8s-app': 'cilium-envoy' }, ports: [9964], headless: true }],
  },
  coredns: {
    workloads: [
      {
        kind: 'Deployment',
        name: 'coredns',
        selector: {
          'app.kubernetes.io/instance': '{release}',
          'app.kubernetes.io/name': 'coredns',
          'k8s-app': 'coredns',
        },
        labels: {
          'app.kubernetes.io/instance': '{release}',
          'app.kubernetes.io/name': 'coredns',
          'k8s-app': 'coredns',
          'kubernetes.io/cluster-service': 'true',
          'kubernetes.io/name': 'CoreDNS',
        },
        replicas: ['replicaCount', 1],
        containers: ['coredns'],
      },
    ],
    services: [
      {
        name: 'coredns',
        selector: {
          'app.kubernetes.io/instance': '{release}',
          'app.kubernetes.io/name': 'coredns',
          'k8s-app': 'coredns',
        },
        ports: [53, 53],
      },
    ],
  },
  'traefik-crd': { workloads: [] },
  traefik: {
    workloads: [
      {
        kind: 'Deployment',
        name: 'traefik',
        selector: { 'app.kubernetes.io/instance': '{release}-{namespace}', 'app.kubernetes.io/name': 'traefik' },
        podsSayVersion: 'all',
        replicas: ['deployment.replicas', 1],
        containers: ['traefik'],
      },
    ],
    services: [
      {
        name: 'traefik',
        selector: { 'app.kubernetes.io/instance': '{release}-{namespace}', 'app.kubernetes.io/name': 'traefik' },
        ports: [80, 443],
        type: 'LoadBalancer',
      },
    ],
  },
  'kube-vip': {
    workloads: [
      {
        kind: 'DaemonSet',
        name: 'kube-vip-services',
        selector: { 'app.kubernetes.io/instance': '{release}', 'app.kubernetes.io/name': 'kube-vip-services' },
        labels: {},
        tolerations: [{ effect: 'NoSchedule', key: 'node-role.kubernetes.io/control-plane', operator: 'Exists' }],
        hostNetwork: true,
        containers: ['kube-vip'],
      },
    ],
  },
  'kube-vip-cloud-provider': {
    workloads: [
      {
        kind: 'Deployment',
        name: 'kube-vip-cloud-provider',
        selector: { 'app.kubernetes.io/instance': '{release}', 'app.kubernetes.io/name': 'kube-vip-cloud-provider' },
        labels: {},
        tolerations: [
          { effect: 'NoSchedule', key: 'node-role.kubernetes.io/master' },
          { effect: 'NoSchedule', key: 'node-role.kubernetes.io/control-plane' },
        ],
        containers: ['kube-vip-cloud-provider'],
      },
    ],
  },
  metallb: {
    workloads: [
      {
        kind: 'Deployment',
        name: 'metallb-controller',
        selector: {
          'app.kubernetes.io/component': 'controller',
          'app.kubernetes.io/instance': '{release}',
          'app.kubernetes.io/name': 'metallb',
        },
        nodeSelector: LINUX,
        containers: ['controller'],
      },
      {
        kind: 'DaemonSet',
        name: 'metallb-speaker',
        selector: {
          'app.kubernetes.io/component': 'speaker',
          'app.kubernetes.io/instance': '{release}',
          'app.kubernetes.io/name': 'metallb',
        },
        tolerations: [
          { effect: 'NoSchedule', key: 'node-role.kubernetes.io/master', operator: 'Exists' },
          { effect: 'NoSchedule', key: 'node-role.kubernetes.io/control-plane', operator: 'Exists' },
        ],
        hostNetwork: true,
        nodeSelector: LINUX,
        containers: ['speaker'],
      },
    ],
    services: [
      {
        name: 'metallb-webhook-service',
        selector: {
          'app.kubernetes.io/component': 'controller',
          'app.kubernetes.io/instance': '{release}',
          'app.kubernetes.io/name': 'metallb',
        },
        ports: [443],
      },
    ],
    webhooks: [
      {
        kind: 'ValidatingWebhookConfiguration',
        name: 'metallb-webhook-configuration',
        hooks: [
          {
            name: 'bgppeervalidationwebhook.metallb.io',
            service: 'metallb-webhook-service',
            rules: [
              {
                apiGroups: ['metallb.io'],
                apiVersions: ['v1beta2'],
                operations: ['CREATE', 'UPDATE'],
                resources: ['bgppeers'],
              },
            ],
          },
          {
            name: 'ipaddresspoolvalidationwebhook.metallb.io',
            service: 'metallb-webhook-service',
            rules: [
              {
                apiGroups: ['metallb.io'],
                apiVersions: ['v1beta1'],
                operations: ['CREATE', 'UPDATE'],
                resources: ['ipaddresspools'],
              },
            ],
          },
          {
            name: 'bgpadvertisementvalidationwebhook.metallb.io',
            service: 'metallb-webhook-service',
            rules: [
              {
                apiGroups: ['metallb.io'],
                apiVersions: ['v1beta1'],
                operations: ['CREATE', 'UPDATE'],
                resources: ['bgpadvertisements'],
              },
            ],
          },
          {
            name: 'communityvalidationwebhook.metallb.io',
            service: 'metallb-webhook-service',
            rules: [
              {
                apiGroups: ['metallb.io'],
                apiVersions: ['v1beta1'],
                operations: ['CREATE', 'UPDATE'],
                resources: ['communities'],
              },
            ],
          },
          {
            name: 'bfdprofilevalidationwebhook.metallb.io',
            service: 'metallb-webhook-service',
            rules: [
              {
                apiGroups: ['metallb.io'],
                apiVersions: ['v1beta1'],
                operations: ['CREATE', 'DELETE'],
                resources: ['bfdprofiles'],
              },
            ],
          },
          {
            name: 'l2advertisementvalidationwebhook.metallb.io',
            service: 'metallb-webhook-service',
            rules: [
              {
                apiGroups: ['metallb.io'],
                apiVersions: ['v1beta1'],
                operations: ['CREATE', 'UPDATE'],
                resources: ['l2advertisements'],
              },
            ],
          },
        ],
      },
    ],
  },
}
