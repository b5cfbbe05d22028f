import { z } from 'zod'
import { className, hostPath } from './fields.ts'
import { preset } from './preset.ts'

const NAME = 'local-path-provisioner'
/* The program looks these up by name, for the pods that make and remove directories on the nodes. */
const ACCOUNT = 'local-path-provisioner-service-account'
const CONFIG = 'local-path-config'

/** Volumes on the disks of the nodes themselves; for clusters that disable the one that K3s brings. */
export const localPath = preset({
  name: 'local-path',
  about:
    'Volumes on the disks of the nodes themselves, in place of those of K3s (the Cluster then disables local-storage).',
  version: '0.0.37',
  namespace: 'local-path-storage',
  fields: z.strictObject({
    path: hostPath.default('/var/lib/rancher/k3s/storage'),
    storageClass: className.default('local-path'),
    default: z.boolean().default(true),
  }),
  objects: ({ path, storageClass, default: isDefault }, { namespace, version }) => [
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: ACCOUNT, namespace } },
    {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRole',
      metadata: { name: NAME },
      rules: [
        {
          apiGroups: [''],
          resources: ['nodes', 'persistentvolumeclaims', 'configmaps', 'pods/log'],
          verbs: ['get', 'list', 'watch'],
        },
        {
          apiGroups: [''],
          resources: ['pods', 'persistentvolumes'],
          verbs: ['get', 'list', 'watch', 'create', 'patch', 'update', 'delete'],
        },
        { apiGroups: [''], resources: ['events'], verbs: ['create', 'patch'] },
        { apiGroups: ['storage.k8s.io'], resources: ['storageclasses'], verbs: ['get', 'list', 'watch'] },
      ],
    },
    {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRoleBinding',
      metadata: { name: NAME },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: NAME },
      subjects: [{ kind: 'ServiceAccount', name: ACCOUNT, namespace }],
    },
    {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: CONFIG, namespace },
      data: {
        'config.json': JSON.stringify({ nodePathMap: [{ node: 'DEFAULT_PATH_FOR_NON_LISTED_NODES', paths: [path] }] }),
        setup: '#!/bin/sh\nset -eu\nmkdir -m 0777 -p "$VOL_DIR"\n',
        teardown: '#!/bin/sh\nset -eu\nrm -rf "$VOL_DIR"\n',
        'helperPod.yaml': JSON.stringify({
          apiVersion: 'v1',
          kind: 'Pod',
          metadata: { name: 'helper-pod' },
          spec: {
            priorityClassName: 'system-node-critical',
            // A full disk must not keep directories from being removed.
            tolerations: [{ key: 'node.kubernetes.io/disk-pressure', operator: 'Exists', effect: 'NoSchedule' }],
            containers: [{ name: 'helper-pod', image: 'docker.io/library/busybox:1.37.0' }],
          },
        }),
      },
    },
    {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: NAME, namespace },
      spec: {
        replicas: 1,
        selector: { matchLabels: { app: NAME } },
        template: {
          metadata: { labels: { app: NAME } },
          spec: {
            serviceAccountName: ACCOUNT,
            containers: [
              {
                name: NAME,
                image: `docker.io/rancher/local-path-provisioner:v${version}`,
                command: [NAME, 'start', '--config', '/etc/config/config.json'],
                env: [
                  { name: 'POD_NAMESPACE', valueFrom: { fieldRef: { fieldPath: 'metadata.namespace' } } },
                  { name: 'CONFIG_MOUNT_PATH', value: '/etc/config/' },
                ],
                volumeMounts: [{ name: 'config', mountPath: '/etc/config/' }],
              },
            ],
            volumes: [{ name: 'config', configMap: { name: CONFIG } }],
          },
        },
      },
    },
    {
      apiVersion: 'storage.k8s.io/v1',
      kind: 'StorageClass',
      metadata: {
        name: storageClass,
        annotations: { 'storageclass.kubernetes.io/is-default-class': String(isDefault) },
      },
      provisioner: 'rancher.io/local-path',
      volumeBindingMode: 'WaitForFirstConsumer',
      reclaimPolicy: 'Delete',
    },
  ],
  example: { path: '/var/lib/volumes', storageClass: 'local' },
})
