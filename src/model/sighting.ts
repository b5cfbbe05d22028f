import type { ResourceKey } from './key.ts'

/** The mark that croft leaves on what it makes. The uid is in a tag (seen in bulk), the rest in the description. */
export interface Mark {
  readonly uid: string
  /** Known after a close look only. */
  readonly owner?: ResourceKey
  readonly estate?: string
  readonly deletion?: 'Delete' | 'Orphan'
  /** Places in the configuration that croft filled: only these it ever empties again. */
  readonly devices?: readonly string[]
  /** The first twelve digits of the hash of the document that the guest has read; `none` for one that has read none. */
  readonly seed?: string
  /** A document on its way to the guest, and the storage that its image is or will be on. */
  readonly seeding?: { readonly hash: string; readonly storage: string }
  /** The storage from which images that nobody needs any more are still to be taken away. */
  readonly unseeding?: string
}

export type PowerState = 'running' | 'stopped' | 'paused' | 'unknown'

/** One thing that an outside system shows: a guest, a file. */
export interface Sighting {
  readonly connection: string
  readonly type: 'vm' | 'container' | 'file' | 'setting' | 'item' | 'object'
  /** The list that shows it, for things that a survey does not show (files, settings). */
  readonly list?: string
  /** VMID as text, or for a listed thing its name in the list. */
  readonly externalId: string
  readonly host: string
  readonly name?: string
  readonly mark?: Mark
  readonly power?: PowerState
  /** `clone`, `create`, `backup`…: somebody is at work on it. */
  readonly lock?: string
  readonly template?: boolean
  /** Something else than a person may move it to another host. */
  readonly highlyAvailable?: boolean
  /** The resource pool it is in, where the system has such a thing. */
  readonly pool?: string
  readonly uptimeSeconds?: number
  /** What it may use at most. */
  readonly memoryBytes?: number
  readonly diskBytes?: number
  readonly cpus?: number
  /** How busy its processors are right now, 0 to 1, and what of its memory it uses. */
  readonly load?: number
  readonly memoryUsedBytes?: number
  /** What a close look brought; undefined when only the survey has seen it. Its shape belongs to the driver. */
  readonly close?: CloseLook
}

export type CloudInitResult =
  /** `none`: no cloud-init has run in it. */
  { readonly state: 'none' | 'running' | 'done' } | { readonly state: 'error'; readonly message: string }

export interface CloseLook {
  /** The system's own version of the configuration, sent back with a write as compare-and-set. */
  readonly digest?: string
  /** Flat configuration as the system answers it. */
  readonly config: Readonly<Record<string, unknown>>
  /** Keys whose value in `config` waits for a restart. */
  readonly pending?: readonly string[]
  /** The values of those keys that are in force until then; a key that is missing here has none. */
  readonly inForce?: Readonly<Record<string, unknown>>
  /** Power read from the guest itself, not from a cache. */
  readonly power?: PowerState
  /** When it was made, where the system remembers. */
  readonly createdMs?: number
  /** Does the agent inside answer? undefined: not asked. */
  readonly agent?: 'up' | 'down'
  readonly addresses?: readonly string[]
  /** How its first boot went, as cloud-init itself says it. Absent: nobody asked, or it cannot be known. */
  readonly cloudInit?: CloudInitResult
  /** Images made for this guest, on the storage that its mark names. Absent: its mark names none. */
  readonly seedImages?: readonly { readonly id: string; readonly bytes: number }[]
  /** What the record is to tell of it, as it was seen: it is right again after a crash and after the store was lost. */
  readonly facts?: Readonly<Record<string, string>>
  /** What a survey still called it when it was read, where that is another name than its own. */
  readonly surveyedName?: string
  readonly atMs: number
}
