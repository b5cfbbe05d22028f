import { createHash } from 'node:crypto'
import { z } from 'zod'
import { whole } from '../../fields/number.ts'
import { logicalName } from '../../fields/text.ts'
import { className, quantity } from './fields.ts'
import { preset } from './preset.ts'

const LABELS = { 'app.kubernetes.io/name': 'garage' }

/** Object storage with the interface of S3, its layout and its buckets. */
export const garage = preset({
  name: 'garage',
  about:
    'Object storage that speaks S3: its nodes, their layout and its buckets. Its secrets are keys rpc and admin of the Secret `garage`.',
  version: '2.1.0',
  namespace: 'garage',
  fields: z
    .strictObject({
      nodes: whole(1, 20).default(3),
      replicas: whole(1, 5).default(3),
      capacity: quantity,
      storageClass: className.optional(),
      zone: logicalName.default('home'),
      region: logicalName.default('garage'),
      buckets: z.array(logicalName).default([]),
    })
    .refine(({ nodes, replicas }) => replicas <= nodes, {
      path: ['replicas'],
      error: 'no more copies than nodes: each is on a node of its own (default 3)',
    }),
  objects: ({ nodes, replicas, capacity, storageClass, zone, region, buckets }, { namespace, version }) => [
    {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'garage', namespace },
      data: {
        'garage.toml': configuration(namespace, replicas, region),
        'layout.sh': layout(nodes, capacity, zone, buckets),
      },
    },
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'garage', namespace } },
    // Its nodes find each other through custom objects, whose kind they define.
    {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRole',
      metadata: { name: `garage-${namespace}` },
      rules: [
        {
          apiGroups: ['apiextensions.k8s.io'],
          resources: ['customresourcedefinitions'],
          verbs: ['get', 'list', 'watch', 'create', 'patch'],
        },
        {
          apiGroups: ['deuxfleurs.fr'],
          resources: ['garagenodes'],
          verbs: ['get', 'list', 'watch', 'create', 'patch', 'update', 'delete'],
        },
      ],
    },
    {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRoleBinding',
      metadata: { name: `garage-${namespace}` },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: `garage-${namespace}` },
      subjects: [{ kind: 'ServiceAccount', name: 'garage', namespace }],
    },
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'garage', namespace },
      spec: {
        selector: LABELS,
        ports: [
          { name: 's3', port: 3900, targetPort: 3900 },
          { name: 'admin', port: 3903, targetPort: 3903 },
        ],
      },
    },
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'garage-nodes', namespace },
      spec: {
        clusterIP: 'None',
        publishNotReadyAddresses: true,
        selector: LABELS,
        ports: [{ name: 'rpc', port: 3901, targetPort: 3901 }],
      },
    },
    {
      apiVersion: 'apps/v1',
      kind: 'StatefulSet',
      metadata: { name: 'garage', namespace },
      spec: {
        replicas: nodes,
        serviceName: 'garage-nodes',
        podManagementPolicy: 'Parallel',
        selector: { matchLabels: LABELS },
        template: {
          metadata: { labels: LABELS },
          spec: {
            serviceAccountName: 'garage',
            containers: [
              {
                name: 'garage',
                image: `docker.io/dxflrs/garage:v${version}`,
                env: [
                  { name: 'GARAGE_RPC_SECRET', valueFrom: { secretKeyRef: { name: 'garage', key: 'rpc' } } },
                  { name: 'GARAGE_ADMIN_TOKEN', valueFrom: { secretKeyRef: { name: 'garage', key: 'admin' } } },
                ],
                ports: [
                  { containerPort: 3900, name: 's3' },
                  { containerPort: 3901, name: 'rpc' },
                  { containerPort: 3903, name: 'admin' },
                ],
                volumeMounts: [
                  { name: 'data', mountPath: '/var/lib/garage' },
                  { name: 'config', mountPath: '/etc/garage.toml', subPath: 'garage.toml' },
                ],
              },
            ],
            volumes: [{ name: 'config', configMap: { name: 'garage' } }],
          },
        },
        volumeClaimTemplates: [
          {
            metadata: { name: 'data' },
            spec: {
              accessModes: ['ReadWriteOnce'],
              resources: { requests: { storage: capacity } },
              ...(storageClass === undefined ? {} : { storageClassName: storageClass }),
            },
          },
        ],
      },
    },
    {
      apiVersion: 'batch/v1',
      kind: 'Job',
      // A new layout gets a new job: a finished one stays.
      metadata: { name: `garage-layout-${shortHash(layout(nodes, capacity, zone, buckets))}`, namespace },
      spec: {
        backoffLimit: 100,
        template: {
          spec: {
            restartPolicy: 'OnFailure',
            containers: [
              {
                name: 'layout',
                image: 'docker.io/curlimages/curl:8.16.0',
                command: ['sh', '/etc/layout/layout.sh'],
                env: [{ name: 'TOKEN', valueFrom: { secretKeyRef: { name: 'garage', key: 'admin' } } }],
                volumeMounts: [{ name: 'layout', mountPath: '/etc/layout' }],
              },
            ],
            volumes: [{ name: 'layout', configMap: { name: 'garage' } }],
          },
        },
      },
    },
  ],
  example: { nodes: 3, capacity: '100Gi', buckets: ['backups'] },
})

function configuration(namespace: string, replicas: number, region: string): string {
  return `metadata_dir = "/var/lib/garage/meta"
data_dir = "/var/lib/garage/data"
db_engine = "lmdb"
replication_factor = ${replicas}
rpc_bind_addr = "[::]:3901"
[kubernetes_discovery]
namespace = "${namespace}"
service_name = "garage-nodes"
skip_crd = false
[s3_api]
s3_region = "${region}"
api_bind_addr = "[::]:3900"
[admin]
api_bind_addr = "[::]:3903"
`
}

/**
 * Waits until all nodes see each other, gives a share to each node without one, and makes the missing buckets.
 * Idempotent, so a run that was cut off is simply repeated.
 */
export function layout(nodes: number, capacity: string, zone: string, buckets: readonly string[]): string {
  return `set -eu
API=\${API:-http://garage:3903/v2}
ask() { curl --fail --silent --show-error --header "Authorization: Bearer $TOKEN" "$@"; }
flat() { tr -d ' \\n'; }
ids=$(ask $API/GetClusterStatus | flat | tr ',{' '\\n\\n' | sed -n 's/^"id":"\\([0-9a-f]\\{64\\}\\)".*/\\1/p' | sort -u)
[ "$(echo "$ids" | grep -c .)" -ge ${nodes} ] || { echo "not all nodes are there yet"; exit 1; }
now=$(ask $API/GetClusterLayout | flat)
# What was only staged is not in force: whoever staged it may have ended there.
now=\${now%%'"stagedRoleChanges"'*}
roles=
for id in $ids; do
  case "$now" in
    *'"id":"'$id'"'*) ;;
    *) roles="$roles{\\"id\\":\\"$id\\",\\"zone\\":\\"${zone}\\",\\"capacity\\":${bytes(capacity)},\\"tags\\":[]}," ;;
  esac
done
if [ -n "$roles" ]; then
  version=$(echo "$now" | sed 's/.*"version":\\([0-9]*\\).*/\\1/')
  ask --json "{\\"roles\\":[\${roles%,}]}" $API/UpdateClusterLayout >/dev/null
  ask --json "{\\"version\\":$((version + 1))}" $API/ApplyClusterLayout >/dev/null
fi
${buckets.map((name) => `ask "$API/GetBucketInfo?globalAlias=${name}" >/dev/null 2>&1 || ask --json '{"globalAlias":"${name}"}' $API/CreateBucket >/dev/null\n`).join('')}`
}

const UNITS: Readonly<Record<string, number>> = { Ki: 2 ** 10, Mi: 2 ** 20, Gi: 2 ** 30, Ti: 2 ** 40 }

function bytes(size: string): number {
  return Number(size.slice(0, -2)) * (UNITS[size.slice(-2)] ?? 1)
}

function shortHash(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 8)
}
