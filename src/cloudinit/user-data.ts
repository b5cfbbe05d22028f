import { LIMITS } from '../lib/limits.ts'
import { isTangled } from '../lib/tangled-yaml.ts'
import { yamlLibrary } from '../lib/yaml-library.ts'
import type { Tree, TreeMap } from '../model/vm.ts'
import type { SeedProblem } from './shape.ts'

/** Facts that all machines get about themselves. */
export interface MachineFacts {
  readonly hostname: string
  /** With it the machine knows its full name. */
  readonly domain?: string
  /** The user that people log in as; the image's own when it is left out. */
  readonly user?: string
  readonly sshKeys?: readonly string[]
}

/** The part of the user data that follows from the declaration. */
export function neededUserData({ hostname, domain, user, sshKeys = [] }: MachineFacts): TreeMap {
  const keys: Record<string, Tree> = sshKeys.length === 0 ? {} : { ssh_authorized_keys: [...sshKeys] }
  return {
    hostname,
    ...(domain === undefined ? {} : { fqdn: `${hostname}.${domain}` }),
    ...(user === undefined
      ? keys
      : {
          users: [{ name: user, shell: '/bin/bash', sudo: 'ALL=(ALL) NOPASSWD:ALL', lock_passwd: true, ...keys }],
        }),
  }
}

/** User data that a person wrote as text: a cloud-config, read as cloud-init reads it (YAML 1.1, where yes is true). */
export function parseUserData(
  text: string,
): { readonly tree: TreeMap } | { readonly problems: readonly SeedProblem[] } {
  const refuse = (message: string, hint?: string) => ({
    problems: [{ path: [], message, ...(hint === undefined ? {} : { hint }) }],
  })
  if (!/^#cloud-config[ \t]*(?:\n|$)/.test(text))
    return refuse(
      'the text does not begin with #cloud-config',
      'put scripts into runcmd or write_files of a cloud-config: croft adds to it what the machine needs',
    )
  // Limit the text: parsing it blocks other requests.
  if (text.length > LIMITS.userDataText)
    return refuse(
      `the text has ${text.length} characters; at most ${LIMITS.userDataText} are read`,
      'write the cloud-config as a block of fields instead of as text',
    )
  let tree: unknown
  try {
    const document = yamlLibrary().parseDocument(text, { version: '1.1', prettyErrors: false })
    const [error] = document.errors
    if (error !== undefined) return refuse(`the text is not YAML at character ${error.pos[0]} (${error.code})`)
    if (isTangled(document)) return refuse('the text has too many levels, or keys that are not text')
    tree = document.toJS({ maxAliasCount: LIMITS.yamlAliases }) as unknown
  } catch {
    return refuse('the text is not YAML')
  }
  if (tree === null || tree === undefined) return { tree: {} }
  if (typeof tree !== 'object' || Array.isArray(tree)) return refuse('the text is not a block of fields')
  return { tree: JSON.parse(JSON.stringify(tree)) as TreeMap }
}
