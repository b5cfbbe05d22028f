import { createHash } from 'node:crypto'
import { type Condition, type KubeObject, stamp, tree } from '../kubernetes/object.ts'
import { uuid } from '../world/chance.ts'
import type { K3sProcess } from '../world/types.ts'
import { flagList, flagText } from './config-file.ts'

export const NO_CNI =
  'container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady message:Network plugin returns error: cni plugin not initialized'

export const UNINITIALIZED = {
  key: 'node.cloudprovider.kubernetes.io/uninitialized',
  value: 'true',
  effect: 'NoSchedule',
}
export const NOT_READY = { key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' }

/** The Node as its kubelet makes it. */
export function newNode(process: K3sProcess): KubeObject {
  const { computer } = process
  const nowMs = computer.world.clock.now()
  const taints = flagList(process.flags, 'node-taint').map(taintOf)
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name: process.nodeName,
      uid: uuid(computer.world.random),
      creationTimestamp: stamp(nowMs),
      labels: { ...ownLabels(process), ...declaredLabels(process) },
      annotations: {
        'alpha.kubernetes.io/provided-node-ip': process.nodeIps.join(','),
        'volumes.kubernetes.io/controller-managed-attach-detach': 'true',
      },
    },
    spec: { taints: [...taints, UNINITIALIZED, NOT_READY] },
    status: kubeletStatus(process, pressures(nowMs), process.nodeName),
  }
}

function ownLabels(process: K3sProcess): Record<string, string> {
  return {
    'beta.kubernetes.io/arch': 'amd64',
    'beta.kubernetes.io/os': 'linux',
    'kubernetes.io/arch': 'amd64',
    'kubernetes.io/hostname': process.nodeName,
    'kubernetes.io/os': 'linux',
  }
}

export function declaredLabels(process: K3sProcess): Record<string, string> {
  return Object.fromEntries(
    flagList(process.flags, 'node-label').map((label) => {
      const at = label.indexOf('=')
      return at < 0 ? [label, ''] : [label.slice(0, at), label.slice(at + 1)]
    }),
  )
}

function taintOf(taint: string): Record<string, string> {
  const match = /^([^=:]+)(?:=([^:]*))?:(.+)$/.exec(taint)
  const value = match?.[2]
  return {
    key: match?.[1] ?? taint,
    ...(value === undefined || value === '' ? {} : { value }),
    effect: match?.[3] ?? '',
  }
}

/** What servers run is written on them by K3s itself, secrets covered. */
export function argumentAnnotations(process: K3sProcess): Record<string, string> {
  const args = JSON.stringify(process.args)
  return {
    'k3s.io/hostname': process.computer.hostname(),
    'k3s.io/internal-ip': process.nodeIps.join(','),
    'k3s.io/node-args': args,
    'k3s.io/node-config-hash': base32(createHash('sha256').update(`${args}{}`).digest()),
    'k3s.io/node-env': '{}',
  }
}

export function flannelAnnotations(process: K3sProcess): Record<string, string> {
  const backend = flagText(process.flags, 'flannel-backend') || 'vxlan'
  if (backend === 'none') return {}
  const mac = createHash('sha256')
    .update(process.nodeName)
    .digest('hex')
    .slice(0, 10)
    .replace(/(..)(?=.)/g, '$1:')
  return {
    'flannel.alpha.coreos.com/backend-data': backend === 'vxlan' ? `{"VNI":1,"VtepMAC":"1a:${mac}"}` : 'null',
    'flannel.alpha.coreos.com/backend-type': backend,
    'flannel.alpha.coreos.com/kube-subnet-manager': 'true',
    'flannel.alpha.coreos.com/public-ip': process.nodeIps[0] ?? '',
  }
}

function pressures(nowMs: number): readonly Condition[] {
  const at = { lastHeartbeatTime: stamp(nowMs), lastTransitionTime: stamp(nowMs) }
  return [
    ...PRESSURES.map(([type, reason, message]) => ({ type, status: 'False', ...at, reason, message })),
    {
      type: 'Ready',
      status: 'False',
      ...at,
      reason: 'KubeletNotReady',
      message: `[${NO_CNI}, CSINode is not yet initialized]`,
    },
  ]
}

export const PRESSURES = [
  ['MemoryPressure', 'KubeletHasSufficientMemory', 'kubelet has sufficient memory available'],
  ['DiskPressure', 'KubeletHasNoDiskPressure', 'kubelet has no disk pressure'],
  ['PIDPressure', 'KubeletHasSufficientPID', 'kubelet has sufficient PID available'],
] as const

export function kubeletStatus(
  process: K3sProcess,
  conditions: readonly Condition[],
  hostname: string,
  before?: unknown,
): Record<string, unknown> {
  const { machineId, bootId } = process.computer.machine.system
  return {
    ...tree(before),
    capacity: CAPACITY,
    allocatable: { ...CAPACITY, 'ephemeral-storage': '257025515114' },
    conditions,
    addresses: [
      ...process.nodeIps.map((address) => ({ type: 'InternalIP', address })),
      ...flagList(process.flags, 'node-external-ip').map((address) => ({ type: 'ExternalIP', address })),
      { type: 'Hostname', address: hostname },
    ],
    daemonEndpoints: { kubeletEndpoint: { Port: 10250 } },
    nodeInfo: {
      machineID: machineId,
      systemUUID: machineId.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5'),
      bootID: bootId,
      kernelVersion: '6.8.0-85-generic',
      osImage: 'Ubuntu 24.04.3 LTS',
      containerRuntimeVersion: 'containerd://2.1.5-k3s1',
      kubeletVersion: process.version,
      kubeProxyVersion: '',
      operatingSystem: 'linux',
      architecture: 'amd64',
    },
    images: [],
    runtimeHandlers: [
      { name: '', features: { recursiveReadOnlyMounts: true, userNamespaces: true } },
      { name: 'runc', features: { recursiveReadOnlyMounts: true, userNamespaces: true } },
    ],
    features: { supplementalGroupsPolicy: true },
    declaredFeatures: [],
  }
}

const CAPACITY = {
  cpu: '2',
  'ephemeral-storage': '264212084Ki',
  'hugepages-1Gi': '0',
  'hugepages-2Mi': '0',
  memory: '8145924Ki',
  pods: '110',
}

const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'

function base32(bytes: Uint8Array): string {
  let [bits, value, text] = [0, 0, '']
  for (const byte of bytes) {
    value = (value << 8) | byte
    bits += 8
    while (bits >= 5) {
      text += BASE32[(value >>> (bits - 5)) & 31]
      bits -= 5
    }
    value &= (1 << bits) - 1
  }
  if (bits > 0) text += BASE32[(value << (5 - bits)) & 31]
  return text + '='.repeat((8 - (text.length % 8)) % 8)
}
