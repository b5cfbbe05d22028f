import { cpSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import type { Scalar } from 'yaml'
import { yamlLibrary } from '../../lib/yaml-library.ts'
import { yamlWord } from '../../lib/yaml-word.ts'
import type { Origin } from '../../model/declaration.ts'
import type { Connection, Estate } from '../../model/estate.ts'
import { readDocuments } from '../../source/manifest.ts'
import type { RunningSimulator } from '../runtime.ts'
import { CliError } from '../verb.ts'

/** Sets fields of the document at a place, by path. */
interface DocumentEdit {
  readonly origin: Origin
  readonly set: readonly (readonly [path: readonly string[], value: unknown])[]
}

/** The name of the variable that holds the token: the connection's own where it names one. */
export function tokenVariable({ token }: Connection): string {
  return token !== undefined && 'env' in token ? token.env : 'PROXMOX_TOKEN'
}

/** Refuses a bad place for the copy before serving: existing files are not overwritten. */
export function checkCopyPlace(from: string, to: string, shown: string): void {
  if (existsSync(to) && readdirSync(to).length > 0)
    throw new CliError(`${shown} is not empty. Name a new directory with --write for the copy of the manifests.`)
  if (`${to}${path.sep}`.startsWith(`${from}${path.sep}`))
    throw new CliError(`${shown} is inside the directory that is copied. Name a directory outside it with --write.`)
}

/** Copies the manifests to a new directory with its own state, with edits that point them to the simulator. */
export function writeCopy(from: string, to: string, edits: readonly DocumentEdit[], extra: string | undefined): void {
  cpSync(from, to, { recursive: true, filter: (file) => path.basename(file) !== '.git' })
  // Apply edits from last to first: an edit may change the number of lines.
  for (const edit of edits.toSorted((a, b) => b.origin.line - a.origin.line)) {
    const file = path.join(to, edit.origin.file)
    writeFileSync(file, edited(readFileSync(file, 'utf8'), edit))
  }
  if (extra !== undefined) writeFileSync(path.join(to, 'croft-sim.yaml'), extra)
}

/** The text of a file with fields of one of its documents set; the other documents stay as they are. */
export function edited(text: string, { origin, set }: DocumentEdit): string {
  const found = readDocuments(text)
    .map(({ document }) => document)
    .findLast(({ line }) => line <= origin.line)
  if (found === undefined) return text
  const before = text.split('\n', found.line - 1)
  const start = before.join('\n').length + (before.length > 0 ? 1 : 0)
  const tree = yamlLibrary().parseDocument(found.text)
  for (const [at, value] of set) {
    const node = tree.createNode(value)
    // A fingerprint without quotes is a number to base 60 for older readers of YAML.
    if (typeof value === 'string') (node as Scalar).type = 'QUOTE_DOUBLE'
    tree.setIn(at, node)
  }
  const after = text.slice(start + found.text.length)
  return `${text.slice(0, start)}${tree.toString({ directives: found.text.startsWith('---') })}${after}`
}

/** Returns the edits of the copy: the Proxmox endpoint, and checksums of the simulator's K3s releases. */
export function editsFor(
  estate: Estate,
  connection: Connection,
  simulator: Pick<RunningSimulator, 'endpoint' | 'fingerprint' | 'releaseChecksum'>,
): { readonly edits: readonly DocumentEdit[]; readonly extra?: string } {
  const { endpoint, fingerprint } = simulator
  const clusters = (estate.clusters ?? []).map(({ origin, spec: { version } }) => ({
    origin,
    set: [[['spec', 'checksums'], { [`${version}/amd64`]: simulator.releaseChecksum(version) }]] as const,
  }))
  // A ProviderConfig has its address inside a secret; a Proxmox of its name serves those who refer to it.
  if (connection.credentials !== undefined)
    return {
      edits: clusters,
      extra: `apiVersion: croft.dev/v1alpha1
kind: Proxmox
metadata: {name: ${yamlWord(connection.name)}}
spec:
  endpoint: ${endpoint}
  fingerprint: "${fingerprint}"
  token: {env: PROXMOX_TOKEN}
`,
    }
  const way: DocumentEdit = {
    origin: connection.origin,
    set: [
      [['spec', 'endpoint'], endpoint],
      [['spec', 'fingerprint'], fingerprint],
      [['spec', 'token'], { env: tokenVariable(connection) }],
    ],
  }
  return { edits: [way, ...clusters] }
}
