import { z } from 'zod'
import { defined } from '../../../lib/defined.ts'
import { whole } from '../../fields/number.ts'
import { matching } from '../../fields/text.ts'
import { className, hostPath, labels } from './fields.ts'
import { preset } from './preset.ts'

/** Storage of the cluster itself, by Ceph. */
export const rookCeph = preset({
  name: 'rook-ceph',
  about: 'Storage that the nodes give each other, by Ceph: the operator, one cluster, a pool of blocks and its class.',
  // The last line whose chart brings the CSI drivers: from v1.20 on they are a chart of their own.
  version: 'v1.19.10',
  namespace: 'rook-ceph',
  fields: z.strictObject({
    image: matching(/^[a-z0-9./-]+:[A-Za-z0-9._-]+$/, 'an image with its tag').default('quay.io/ceph/ceph:v19.2.6'),
    monitors: whole(1, 5).default(3),
    /** A pattern of device names. No disk is used without it. */
    devices: matching(/^[A-Za-z0-9^$[\]()|*-]+$/, 'a pattern of device names, like ^sd[b-d]', 100).optional(),
    /** Labels of the nodes that carry it. */
    nodes: labels.optional(),
    replicas: whole(1, 5).default(3),
    dataPath: hostPath.default('/var/lib/rook'),
    storageClass: className.default('ceph-block'),
  }),
  chart: () => ({
    repo: 'https://charts.rook.io/release',
    name: 'rook-ceph',
    values: { enableDiscoveryDaemon: false },
  }),
  objects: ({ image, monitors, devices, nodes, replicas, dataPath, storageClass }, { namespace }) => [
    {
      apiVersion: 'ceph.rook.io/v1',
      kind: 'CephCluster',
      metadata: { name: 'ceph', namespace },
      spec: {
        cephVersion: { image },
        dataDirHostPath: dataPath,
        mon: { count: monitors, allowMultiplePerNode: false },
        mgr: { count: monitors > 1 ? 2 : 1 },
        dashboard: { enabled: true, ssl: false },
        storage: defined({ useAllNodes: true, useAllDevices: false, deviceFilter: devices }),
        ...(nodes === undefined ? {} : { placement: { all: { nodeAffinity: onNodes(nodes) } } }),
      },
    },
    {
      apiVersion: 'ceph.rook.io/v1',
      kind: 'CephBlockPool',
      metadata: { name: storageClass, namespace },
      spec: { failureDomain: 'host', replicated: { size: replicas, requireSafeReplicaSize: replicas > 1 } },
    },
    {
      apiVersion: 'storage.k8s.io/v1',
      kind: 'StorageClass',
      metadata: { name: storageClass },
      provisioner: `${namespace}.rbd.csi.ceph.com`,
      parameters: {
        clusterID: namespace,
        pool: storageClass,
        imageFormat: '2',
        imageFeatures: 'layering',
        'csi.storage.k8s.io/provisioner-secret-name': 'rook-csi-rbd-provisioner',
        'csi.storage.k8s.io/provisioner-secret-namespace': namespace,
        'csi.storage.k8s.io/controller-expand-secret-name': 'rook-csi-rbd-provisioner',
        'csi.storage.k8s.io/controller-expand-secret-namespace': namespace,
        'csi.storage.k8s.io/controller-publish-secret-name': 'rook-csi-rbd-provisioner',
        'csi.storage.k8s.io/controller-publish-secret-namespace': namespace,
        'csi.storage.k8s.io/node-stage-secret-name': 'rook-csi-rbd-node',
        'csi.storage.k8s.io/node-stage-secret-namespace': namespace,
        'csi.storage.k8s.io/fstype': 'ext4',
      },
      reclaimPolicy: 'Delete',
      allowVolumeExpansion: true,
    },
  ],
  example: { devices: '^sd[b-d]', replicas: 3 },
})

function onNodes(labels: Readonly<Record<string, string>>): object {
  const matchExpressions = Object.entries(labels).map(([key, value]) => ({ key, operator: 'In', values: [value] }))
  return { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ matchExpressions }] } }
}
