import type { ChartFacts } from './facts.ts'

/*
 * What the charts that presets use bring, at the versions that presets name, as far as others notice: what runs and how
 * it is labelled, what stands before it, what has to agree. `{release}` and `{namespace}` are filled in.
 */

const LINUX = { 'kubernetes.io/os': 'linux' }

export const PLATFORM_CHARTS: Readonly<Record<string, ChartFacts>> = {
  'cert-manager': {
    workloads: [
      {
        kind: 'Deployment',
        name: 'cert-manager-cainjector',
        selector: {
          'app.kubernetes.io/component': 'cainjector',
          'app.kubernetes.io/instance': '{release}',
          'app.kubernetes.io/name': 'cainjector',
        },
        podLabels: { app: 'cainjector' },
        podsSayVersion: 'all',
        nodeSelector: LINUX,
        containers: ['cert-manager-cainjector'],
      },
      {
        kind: 'Deployment',
        name: 'cert-manager',
        selector: {
          'app.kubernetes.io/component': 'controller',
          'app.kubernetes.io/instance': '{release}',
          'app.kubernetes.io/name': 'cert-manager',
        },
        podLabels: { app: 'cert-manager' },
        podsSayVersion: 'all',
        nodeSelector: LINUX,
        containers: ['cert-manager-controller'],
      },
      {
        kind: 'Deployment',
        name: 'cert-manager-webhook',
        selector: {
          'app.kubernetes.io/component': 'webhook',
          'app.kubernetes.io/instance': '{release}',
          'app.kubernetes.io/name': 'webhook',
        },
        podLabels: { app: 'webhook' },
        podsSayVersion: 'all',
        nodeSelector: LINUX,
        containers: ['cert-manager-webhook'],
      },
    ],
    services: [
      {
        name: 'cert-manager-cainjector',
        selector: {
          'app.kubernetes.io/component': 'cainjector',
          'app.kubernetes.io/instance': '{release}',
          'app.kubernetes.io/name': 'cainjector',
        },
        ports: [9402],
      },
      {
        name: 'cert-manager',
        selector: {
          'app.kubernetes.io/component': 'controller',
          'app.kubernetes.io/instance': '{release}',
          'app.kubernetes.io/name': 'cert-manager',
        },
        ports: [9402],
      },
      {
        name: 'cert-manager-webhook',
        selector: {
          'app.kubernetes.io/component': 'webhook',
          'app.kubernetes.io/instance': '{release}',
          'app.kubernetes.io/name': 'webhook',
        },
        ports: [443, 9402],
      },
    ],
    hooks: [{ when: 'post-install', name: 'cert-manager-startupapicheck', goes: true }],
    webhooks: [
      {
        kind: 'MutatingWebhookConfiguration',
        name: 'cert-manager-webhook',
        hooks: [
          {
            name: 'webhook.cert-manager.io',
            service: 'cert-manager-webhook',
            rules: [
              {
                apiGroups: ['cert-manager.io'],
                apiVersions: ['v1'],
                operations: ['CREATE'],
                resources: ['certificaterequests'],
              },
            ],
          },
        ],
      },
      {
        kind: 'ValidatingWebhookConfiguration',
        name: 'cert-manager-webhook',
        hooks: [
          {
            name: 'webhook.cert-manager.io',
            service: 'cert-manager-webhook',
            rules: [
              {
                apiGroups: ['cert-manager.io', 'acme.cert-manager.io'],
                apiVersions: ['v1'],
                operations: ['CREATE', 'UPDATE'],
                resources: ['*/*'],
              },
            ],
          },
        ],
      },
    ],
  },
  'argo-cd': {
    workloads: [
      {
        kind: 'StatefulSet',
        name: 'argocd-application-controller',
        selector: {
          'app.kubernetes.io/instance': '{release}',
          'app.kubernetes.io/name': 'argocd-application-controller',
        },
        podLabels: { 'app.kubernetes.io/component': 'application-controller', 'app.kubernetes.io/part-of': 'argocd' },
        podsSayVersion: 'all',
        nodeSelector: LINUX,
        containers: ['application-controller'],
      },
      {
        kind: 'Deployment',
        name: 'argocd-applicationset-controller',
        selector: {
          'app.kubernetes.io/instance': '{release}',
          'app.kubernetes.io/name': 'argocd-applicationset-controller',
        },
        podLabels: {
          'app.kubernetes.io/component': 'applicationset-controller',
          'app.kubernetes.io/part-of': 'argocd',
        },
        podsSayVersion: 'all',
        nodeSelector: LINUX,
        containers: ['applicationset-controller'],
      },
      {
        kind: 'Deployment',
        name: 'argocd-notifications-controller',
        selector: {
          'app.kubernetes.io/instance': '{release}',
          'app.kubernetes.io/name': 'argocd-notifications-controller',
        },
        podLabels: { 'app.kubernetes.io/component': 'notifications-controller', 'app.kubernetes.io/part-of': 'argocd' },
        podsSayVersion: 'all',
        nodeSelector: LINUX,
        containers: ['notifications-controller'],
      },
      {
        kind: 'Deployment',
        name: 'argocd-repo-server',
        selector: { 'app.kubernetes.io/instance': '{release}', 'app.kubernetes.io/name': 'argocd-repo-server' },
        podLabels: { 'app.kubernetes.io/component': 'repo-server', 'app.kubernetes.io/part-of': 'argocd' },
        podsSayVersion: 'all',
        nodeSelector: LINUX,
        containers: ['repo-server'],
      },
      {
        kind: 'Deployment',
        name: 'argocd-server',
        selector: { 'app.kubernetes.io/instance': '{release}', 'app.kubernetes.io/name': 'argocd-server' },
        podLabels: { 'app.kubernetes.io/component': 'server', 'app.kubernetes.io/part-of': 'argocd' },
        podsSayVersion: 'all',
        nodeSelector: LINUX,
        containers: ['server'],
      },
      {
        kind: 'Deployment',
        name: 'argocd-redis',
        selector: { 'app.kubernetes.io/name': 'argocd-redis' },
        podLabels: {
          'app.kubernetes.io/component': 'redis',
          'app.kubernetes.io/instance': '{release}',
          'app.kubernetes.io/part-of': 'argocd',
        },
        podsSayVersion: 'all',
        nodeSelector: LINUX,
        containers: ['redis'],
      },
    ],
    services: [
      {
        name: 'argocd-applicationset-controller',
        selector: {
          'app.kubernetes.io/instance': '{release}',
          'app.kubernetes.io/name': 'argocd-applicationset-controller',
        },
        ports: [7000],
      },
      {
        name: 'argocd-repo-server',
        selector: { 'app.kubernetes.io/instance': '{release}', 'app.kubernetes.io/name': 'argocd-repo-server' },
        ports: [8081],
      },
      {
        name: 'argocd-server',
        selector: { 'app.kubernetes.io/instance': '{release}', 'app.kubernetes.io/name': 'argocd-server' },
        ports: [80, 443],
      },
      {
        name: 'argocd-redis',
        selector: { 'app.kubernetes.io/instance': '{release}', 'app.kubernetes.io/name': 'argocd-redis' },
        ports: [6379],
      },
    ],
    hooks: [{ when: 'pre-install', name: 'argocd-redis-secret-init' }],
  },
  flux2: {
    workloads: [
      {
        kind: 'Deployment',
        name: 'helm-controller',
        selector: { app: 'helm-controller' },
        labels: {
          'app.kubernetes.io/component': 'helm-controller',
          'app.kubernetes.io/instance': '{namespace}',
          'app.kubernetes.io/part-of': 'flux',
          'control-plane': 'controller',
        },
        containers: ['manager'],
      },
      {
        kind: 'Deployment',
        name: 'image-automation-controller',
        selector: { app: 'image-automation-controller' },
        labels: {
          'app.kubernetes.io/component': 'image-automation-controller',
          'app.kubernetes.io/instance': '{namespace}',
          'app.kubernetes.io/part-of': 'flux',
          'control-plane': 'controller',
        },
        containers: ['manager'],
      },
      {
        kind: 'Deployment',
        name: 'image-reflector-controller',
        selector: { app: 'image-reflector-controller' },
        labels: {
          'app.kubernetes.io/component': 'image-reflector-controller',
          'app.kubernetes.io/instance': '{namespace}',
          'app.kubernetes.io/part-of': 'flux',
          'control-plane': 'controller',
        },
        containers: ['manager'],
      },
      {
        kind: 'Deployment',
        name: 'kustomize-controller',
        selector: { app: 'kustomize-controller' },
        labels: {
          'app.kubernetes.io/component': 'kustomize-controller',
          'app.kubernetes.io/instance': '{namespace}',
          'app.kubernetes.io/part-of': 'flux',
          'control-plane': 'controller',
        },
        containers: ['manager'],
      },
      {
        kind: 'Deployment',
        name: 'notification-controller',
        selector: { app: 'notification-controller' },
        labels: {
          'app.kubernetes.io/component': 'notification-controller',
          'app.kubernetes.io/instance': '{namespace}',
          'app.kubernetes.io/part-of': 'flux',
          'control-plane': 'controller',
        },
        containers: ['manager'],
      },
      {
        kind: 'Deployment',
        name: 'source-controller',
        selector: { app: 'source-controller' },
        labels: {
          'app.kubernetes.io/component': 'source-controller',
          'app.kubernetes.io/instance': '{namespace}',
          'app.kubernetes.io/part-of': 'flux',
          'control-plane': 'controller',
        },
        containers: ['manager'],
      },
    ],
    services: [
      { name: 'notification-controller', selector: { app: 'notification-controller' }, ports: [80] },
      { name: 'webhook-receiver', selector: { app: 'notification-controller' }, ports: [80] },
      { name: 'source-controller', selector: { app: 'source-controller' }, ports: [80] },
    ],
    hooks: [{ when: 'pre-install', name: 'flux-flux-check', goes: true }],
  },
  'rook-ceph': {
    workloads: [
      {
        kind: 'Deployment',
        name: 'ceph-csi-controller-manager',
        selector: {
          'app.kubernetes.io/instance': '{release}',
          'app.kubernetes.io/name': 'ceph-csi',
          'control-plane': 'ceph-csi-op-controller-manager',
        },
        labels: {
          'app.kubernetes.io/instance': '{release}',
          'app.kubernetes.io/name': 'ceph-csi',
          'control-plane': 'controller-manager',
        },
        containers: ['manager'],
      },
      {
        kind: 'Deployment',
        name: 'rook-ceph-operator',
        selector: { app: 'rook-ceph-operator' },
        labels: {
          'app.kubernetes.io/created-by': 'helm',
          'app.kubernetes.io/instance': '{release}',
          'app.kubernetes.io/name': 'rook-ceph',
          'app.kubernetes.io/part-of': 'rook-ceph-operator',
          operator: 'rook',
          'storage-backend': 'ceph',
        },
        podsSayVersion: 'chart',
        tolerations: [
          { effect: 'NoExecute', key: 'node.kubernetes.io/unreachable', operator: 'Exists', tolerationSeconds: 5 },
        ],
        containers: ['rook-ceph-operator'],
      },
    ],
  },
}
