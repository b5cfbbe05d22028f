import { type KubernetesClient, segment } from '../../kubernetes/client.ts'
import { annotationsOf, at, type Foreign } from '../../kubernetes/objects.ts'
import type { MoveGate } from './standing.ts'

/** Replicas follow it with all other Leases of croft. */
export const GATE = 'croft-move'
const GATE_ROLE = 'move'
const PHASE = 'croft.dev/move'
const ID = 'croft.dev/move-id'
const PHASES = ['arriving', 'here', 'leaving', 'away'] as const

/** Reads the gate. A Lease with an unknown phase closes it for all: its author meant something. */
export function gateIn(lease: Foreign): MoveGate {
  const said = annotationsOf(lease)
  const phase = PHASES.find((one) => one === said.get(PHASE)) ?? 'away'
  return { id: said.get(ID) ?? '', phase }
}

/** Reports whether replicas may work. */
export function isOpen(gate: MoveGate | undefined): boolean {
  return gate === undefined || gate.phase === 'here'
}

export interface GateKeeper {
  read(): Promise<MoveGate | undefined>
  /** Writes on the condition that the gate is as last read. */
  write(gate: MoveGate): Promise<void>
}

export function createGateKeeper(client: KubernetesClient, namespace: string): GateKeeper {
  const collection = `/apis/coordination.k8s.io/v1/namespaces/${segment(namespace)}/leases`
  const path = `${collection}/${GATE}`
  let version: unknown
  return {
    async read() {
      const got = await client.get(path)
      if (got.is === 'error' && got.status === 404) {
        version = undefined
        return undefined
      }
      if (got.is !== 'answer') throw new Error(got.is === 'error' ? got.refusal.message : got.message)
      version = at(got.value, 'metadata', 'resourceVersion')
      return gateIn(got.value)
    },
    async write({ id, phase }) {
      const annotations = { [PHASE]: phase, [ID]: id }
      const labels = { 'app.kubernetes.io/managed-by': 'croft', 'croft.dev/lease': GATE_ROLE }
      const written =
        version === undefined
          ? await client.create(
              collection,
              { metadata: { name: GATE, namespace, labels, annotations }, spec: {} },
              `say that the estate is ${phase}`,
            )
          : await client.merge(
              path,
              { metadata: { resourceVersion: version, labels, annotations } },
              `say that the estate is ${phase}`,
            )
      if (written.is !== 'answer') throw new Error(written.is === 'error' ? written.refusal.message : written.message)
    },
  }
}
