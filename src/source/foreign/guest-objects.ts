import { EXTERNAL_NAME } from '../../kinds/fields/annotations.ts'
import { KINDS } from '../../kinds/registry.ts'
import { defined } from '../../lib/defined.ts'
import { isFields, objectsOf } from '../manifest.ts'
import { documentsIn } from './documents.ts'
import type { Draft } from './draft.ts'
import { fitToKind } from './fit.ts'
import { createNames, type Fields, type ForeignFile, type ForeignReading, type NotCarried } from './reading.ts'

/** A guest of Proxmox that an operator of a cluster made, as its object describes it. */
export interface OperatorGuest {
  readonly kind: 'EnvironmentVM' | 'EnvironmentContainer'
  /** The host that it runs on, and its number there: both from the status. */
  readonly node: string | undefined
  readonly id: number | undefined
  readonly fields: Fields
  /** Fields that the manifest does not carry, each as a sentence. */
  readonly without: readonly string[]
}

/** One object of an export, with its status. */
export interface OperatorObject {
  readonly kind: string
  readonly name: string
  readonly spec: Fields
  readonly status: Fields
}

/**
 * Converts objects of an operator that keeps guests on Proxmox. `judge` returns a guest, or why there is none;
 * undefined for a foreign object. A guest is adopted by its number with the declared sizes; its other settings stay.
 */
export function readGuestObjects(
  files: readonly ForeignFile[],
  group: RegExp,
  judge: (object: OperatorObject) => OperatorGuest | { readonly why: string },
): ForeignReading {
  const drafts: Draft[] = []
  const notCarried: NotCarried[] = []
  const freeName = createNames()
  for (const { path, text } of files) {
    const documents = documentsIn(text)
    if (documents === undefined) notCarried.push({ what: path, why: 'it cannot be read as YAML or JSON' })
    for (const { value } of (documents ?? []).flatMap(objectsOf)) {
      const { apiVersion, kind, metadata } = value
      if (typeof apiVersion !== 'string' || typeof kind !== 'string' || !isFields(metadata)) continue
      if (!group.test(apiVersion)) continue
      const name = typeof metadata.name === 'string' ? metadata.name : 'unnamed'
      const what = `${kind} ${name}`
      const made = judge({ kind, name, spec: fieldsOf(value.spec), status: fieldsOf(value.status) })
      const found = 'why' in made ? made : draftOf(made, freeName(made.kind, [name]), what)
      if ('why' in found) {
        notCarried.push({ what, why: found.why })
        continue
      }
      drafts.push(found.draft)
      for (const why of found.without) notCarried.push({ what, why })
    }
  }
  return { drafts, notCarried }
}

function draftOf({ kind: name, node, id, fields, without }: OperatorGuest, own: string, what: string) {
  const kind = KINDS.find((one) => one.kind === name)
  if (kind === undefined || node === undefined || id === undefined)
    return {
      why: 'its status does not say on which host it is and which number it has; export the objects of the cluster (kubectl get -o yaml), not those of Git',
    }
  const comments = [
    `from ${what}; what is not declared stays as it is; croft import proxmox DIR --guest ${id} declares it in full`,
  ]
  const { draft, problems } = fitToKind(
    {
      manifest: {
        apiVersion: kind.apiVersion,
        kind: kind.kind,
        metadata: { name: own, annotations: { [EXTERNAL_NAME]: String(id) } },
        spec: { deletionPolicy: 'Orphan', forProvider: { nodeName: node, ...fields } },
      },
      comments,
    },
    kind,
  )
  const [problem] = problems
  if (problem !== undefined) return { why: problem.message }
  return { draft, without: [...without, ...draft.comments.slice(comments.length)] }
}

/** Cores, sockets and memory, where the object names them. */
export function sizeFields(cores: unknown, sockets: unknown, memory: unknown): Fields {
  const whole = (value: unknown) => (typeof value === 'number' && value > 0 ? value : undefined)
  const cpu = defined({ cores: whole(cores), sockets: whole(sockets) })
  return {
    ...(Object.keys(cpu).length === 0 ? {} : { cpu: [cpu] }),
    ...(whole(memory) === undefined ? {} : { memory: [{ dedicated: whole(memory) }] }),
  }
}

export function fieldsOf(value: unknown): Fields {
  return isFields(value) ? { ...value } : {}
}
