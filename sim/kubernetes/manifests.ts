import { createHash } from 'node:crypto'
import { yamlLibrary } from '../../src/lib/yaml-library.ts'
import { DATA } from '../k3s/disk.ts'
import { isWritable } from '../k3s/etcd.ts'
import { uuid } from '../world/chance.ts'
import type { Computer, EtcdCluster, K3sProcess } from '../world/types.ts'
import { kindOf } from './catalogue.ts'
import { type KubeObject, stamp, tree } from './object.ts'
import { find, put } from './store.ts'

const MANIFESTS = `${DATA}/server/manifests`
const SCAN_MS = 15_000

/** K3s' deploy controller: every file in the folder becomes objects and an AddOn. Removing a file removes nothing. */
export function applyManifests(process: K3sProcess, cluster: EtcdCluster): void {
  const { world, machine } = process.computer
  if (!process.alive || process.phase !== 'ready' || !isWritable(cluster)) return
  for (const file of machine.files.list(MANIFESTS)) {
    if (!/\.(ya?ml|json)$/.test(file) || machine.files.read(`${MANIFESTS}/${file}.skip`) !== undefined) continue
    const bytes = machine.files.read(`${MANIFESTS}/${file}`)
    if (bytes === undefined) continue
    const name = file.split('.')[0] ?? file
    const checksum = createHash('sha256').update(bytes).digest('hex')
    const addon = find(cluster.store, 'k3s.cattle.io/addons', 'kube-system', name)
    if (tree(addon?.spec).checksum === checksum) continue
    const at = stamp(world.clock.now())
    for (const document of yamlLibrary().parseAllDocuments(new TextDecoder().decode(bytes))) {
      const object = document.toJS() as KubeObject | null
      if (object === null || typeof object !== 'object') continue
      const kind = kindOf(cluster.store, object.apiVersion, object.kind)
      if (kind === undefined) continue
      const namespace = kind.namespaced ? (object.metadata.namespace ?? 'default') : undefined
      const before = find(cluster.store, kind.key, namespace, object.metadata.name)
      put(cluster.store, kind.key, {
        ...object,
        metadata: {
          generation: (before?.metadata.generation ?? 0) + 1,
          uid: before?.metadata.uid ?? uuid(world.random),
          creationTimestamp: before?.metadata.creationTimestamp ?? at,
          ...object.metadata,
          ...(namespace === undefined ? {} : { namespace }),
        },
        ...(before?.status === undefined ? {} : { status: before.status }),
      })
    }
    put(cluster.store, 'k3s.cattle.io/addons', {
      apiVersion: 'k3s.cattle.io/v1',
      kind: 'Addon',
      metadata: {
        name,
        namespace: 'kube-system',
        uid: addon?.metadata.uid ?? uuid(world.random),
        creationTimestamp: at,
      },
      spec: { source: `${MANIFESTS}/${file}`, checksum },
      status: {},
    })
  }
}

/** A file was put there: the next scan finds it. */
export function applyManifestsSoon(computer: Computer): void {
  const { clock } = computer.world
  clock.schedule(clock.now() + SCAN_MS, () => {
    const process = computer.machine.k3s?.process
    if (process?.cluster !== undefined && process.role === 'server') applyManifests(process, process.cluster)
  })
}
