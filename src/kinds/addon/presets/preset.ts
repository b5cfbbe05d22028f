import type { z } from 'zod'
import type { KubeObject } from '../../../model/kube-object.ts'

/** A chart as a preset asks for it; its version is the preset's. */
export interface PresetChart {
  readonly repo?: string
  readonly name: string
  readonly bootstrap?: boolean
  readonly values: Readonly<Record<string, unknown>>
}

export interface PresetContext {
  /** Name of the add-on. */
  readonly name: string
  readonly namespace: string
  readonly version: string
  readonly cluster: ClusterFacts
}

/** The facts about its Cluster that a preset uses. */
export interface ClusterFacts {
  /** Families of pods, the first one first. */
  readonly families: readonly (4 | 6)[]
  readonly serviceCidrs: readonly string[]
  /** DNS addresses that kubelets give to pods: one of each family of Services. */
  readonly dns: readonly string[]
  readonly domain: string
  /** Nodes with declared addresses, by their names in Kubernetes. */
  readonly nodes: readonly { readonly name: string; readonly addresses: readonly string[] }[]
}

/** A common component as data: one short file each. */
export interface Preset<Fields = unknown> {
  readonly name: string
  readonly about: string
  /** The default version. A change of it is visible to users. */
  readonly version: string
  readonly namespace: string
  /** Strict schema of `with`. */
  readonly fields: z.ZodType<Fields>
  readonly chart?: (fields: Fields, context: PresetContext) => PresetChart
  readonly objects?: (fields: Fields, context: PresetContext) => readonly KubeObject[]
  /** Returns the fields that do not fit the Cluster; paths begin below `with`. */
  readonly problems?: (fields: Fields, cluster: ClusterFacts) => readonly PresetProblem[]
  /** A complete `with`, for the documentation and the tests. */
  readonly example: Readonly<Record<string, unknown>>
}

export interface PresetProblem {
  readonly path: readonly (string | number)[]
  readonly message: string
  readonly hint?: string
}

/** Keeps the types of a preset's fields together. */
export function preset<Fields>(data: Preset<Fields>): Preset {
  return data as Preset
}
