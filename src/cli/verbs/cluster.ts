import { UsageError } from '../exit.ts'
import type { Verb } from '../verb.ts'
import { backup } from './cluster/backup.ts'
import { escrow } from './cluster/escrow.ts'
import { type ClusterVerb, findCluster } from './cluster/find.ts'
import { kubeconfig } from './cluster/kubeconfig.ts'
import { recover } from './cluster/recover.ts'
import { removeMember, replace } from './cluster/replace.ts'
import { restore } from './cluster/restore.ts'
import { rotate } from './cluster/rotate.ts'
import { upgrade } from './cluster/upgrade.ts'

const VERBS: Readonly<Record<string, ClusterVerb>> = {
  kubeconfig,
  upgrade,
  backup,
  restore,
  replace,
  rotate,
  'remove-member': removeMember,
  recover,
  escrow,
}

/** Operations on one cluster: what a person asks for, beside what Git declares. */
export const run: Verb = async (runtime, [what = '', ...words], options) => {
  const verb = VERBS[what]
  if (verb === undefined) {
    throw new UsageError(`There is no croft cluster ${what}. Use ${Object.keys(VERBS).join(', ')}.`)
  }
  const found = await findCluster(runtime, words, options)
  return verb(runtime, found, options)
}
