import { wordSet } from '../../../lib/word-list.ts'
import type { Step } from '../../../model/step.ts'
import { splitDescription, splitTags, uidOfTags } from '../marks.ts'

/** What is another for each VM, however much alike they are made. */
const OWN = wordSet('vmid name description tags')

const CARD = /\b(?:[0-9a-f]{2}:){5}[0-9a-f]{2}\b/gi
const ADDRESS = /\b\d{1,3}(?:\.\d{1,3}){3}\b/g
/** From two digits on: one may be the number of a slot, or a flag, which Proxmox does not treat like its opposite. */
const NUMBER = /\d{2,}/g

/**
 * The words with which a VM is made, where its creation is all that there is to do: two that are made with the same words on
 * one host are stored in the same words. Undefined: more follows, or it is not made by one call for a VM.
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
