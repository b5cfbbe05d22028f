import { wordSet } from '../../../lib/word-list.ts'
import type { Step } from '../../../model/step.ts'
import { splitDescription, splitTags, uidOfTags } from '../marks.ts'

/** The parameters that differ for each VM, even equal ones. */
const OWN = wordSet('vmid name description tags')

const CARD = /\b(?:[0-9a-f]{2}:){5}[0-9a-f]{2}\b/gi
const ADDRESS = /\b\d{1,3}(?:\.\d{1,3}){3}\b/g
/** Two digits or more: a single one may be a slot's number, or a flag, which changes the result. */
const NUMBER = /\d{2,}/g

/**
 * Returns the parameters of a VM's creation without its own values, if creating is the only step: VMs with equal
 * parameters on one host are stored equally. Undefined: more steps follow, or it is not created by one call.
 */
export function likenessOf(steps: readonly Step[]): string | undefined {
  const [only, ...more] = steps
  if (only?.lane !== 'rest' || only.verb !== 'create' || more.length > 0) return undefined
  const { path, params } = only.call
  if (!path.endsWith('/qemu')) return undefined
  const said = Object.entries(params)
    .filter(([name]) => !OWN.has(name))
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, value]) => `${name}=${withoutNumbers(value)}`)
  const uid = uidOfTags(params.tags)
  const tags = splitTags(params.tags).filter((tag) => tag !== `croft-${uid}`)
  return JSON.stringify([path, tags, withoutNumbers(splitDescription(params.description).human), ...said])
}

function withoutNumbers(text: string): string {
  return text.replace(CARD, '#').replace(ADDRESS, '#').replace(NUMBER, '#')
}
