/* Imitates Helm's output for a small chart with all relevant parts: definitions, hooks, a Secret, a kept object. */

interface Shop {
  readonly image?: string
  /** When the Job shop-migrate runs. */
  readonly hook?: string
  readonly replicas?: number
}

export function shopChart({
  image = 'shop:1',
  hook = 'pre-install,pre-upgrade',
  replicas = 2,
}: Shop = {}): readonly unknown[] {
  const labels = { app: 'shop' }
  const job = (name: string, event: string, weight: string) => ({
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: {
      name,
      annotations: {
        'helm.sh/hook': event,
        'helm.sh/hook-weight': weight,
        'helm.sh/hook-delete-policy': 'hook-succeeded',
      },
    },
    spec: {
      ttlSecondsAfterFinished: 30,
      template: { spec: { restartPolicy: 'Never', containers: [{ name: 'main', image, args: [name] }] } },
    },
  })
  return [
    {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: 'orders.shop.example.org' },
      spec: {
        group: 'shop.example.org',
        scope: 'Namespaced',
        names: { kind: 'Order', plural: 'orders', singular: 'order', listKind: 'OrderList' },
        versions: [
          {
            name: 'v1',
            served: true,
            storage: true,
            schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
          },
        ],
      },
    },
    {
      apiVersion: 'v1',
      kind: 'ServiceAccount',
      metadata: {
        name: 'shop-migrate',
        annotations: { 'helm.sh/hook': 'pre-install,pre-upgrade', 'helm.sh/hook-weight': '-5' },
      },
    },
    job('shop-migrate', hook, '0'),
    job('shop-seed', 'post-install', '1'),
    {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'shop-keep', annotations: { 'helm.sh/resource-policy': 'keep' } },
      data: { what: 'stays' },
    },
    {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'shop-config' },
      type: 'Opaque',
      stringData: { greeting: 'hello' },
    },
    {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'shop' },
      spec: {
        replicas,
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers: [{ name: 'main', image }] } },
      },
    },
  ]
}

export const SHOP_CHART = shopChart()
