import { createHash } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { z } from 'zod'
import { jsonIn } from '../lib/foreign-json.ts'
import { signedBy } from '../lib/ssh-signature.ts'

/** The signature's namespace: signatures for other purposes do not count. */
export const NAMESPACE = 'croft-release'
export const SUMS = 'SHA256SUMS'
export const PROVENANCE_TYPE = 'https://slsa.dev/provenance/v1'

/**
 * Returns the problems of an installed copy: changed, missing or additional files, or a list without a signature of a
 * given signer.
 */
export async function verifyInstalled(root: string, signers: string): Promise<readonly string[]> {
  const sums = await textOf(path.join(root, SUMS))
  if (sums === undefined) return [`there is no ${SUMS} in ${root}: it was not made by a release`]
  const unsigned = await unsignedBy(signers, sums, path.join(root, `${SUMS}.sig`))
  if (unsigned !== undefined) return [`${SUMS}: ${unsigned}`]
  const found = new Map<string, string>()
  for (const file of filesBelow(root)) found.set(file, sha256(await readFile(path.join(root, file))))
  return differences(sums, found)
}

/** Returns the problems of a package file. The provenance beside it says which bytes come from which commit. */
export async function verifyArtefact(file: string, signers: string): Promise<readonly string[]> {
  const provenance = provenanceFile(file)
  const text = await textOf(provenance)
  if (text === undefined) return [`the provenance ${provenance} is missing`]
  const unsigned = await unsignedBy(signers, text, `${provenance}.sig`)
  if (unsigned !== undefined) return [`${provenance}: ${unsigned}`]
  return provenanceProblems(text, path.basename(file), sha256(await readFile(file)))
}

/** `croft-1.2.3.tgz` has `croft-1.2.3.provenance.json` beside it. */
export function provenanceFile(artefact: string): string {
  return artefact.replace(/(?:\.tgz)?$/, '.provenance.json')
}

/** The list as sha256sum writes and reads it, sorted by name. Pure. */
export function sumsText(hashes: ReadonlyMap<string, string>): string {
  const names = [...hashes.keys()].toSorted()
  return names.map((name) => `${hashes.get(name)}  ${name}\n`).join('')
}

/** Returns the differences between the files and the list. Pure. */
export function differences(sums: string, found: ReadonlyMap<string, string>): readonly string[] {
  const listed = new Map<string, string>()
  for (const line of sums.split('\n').filter((one) => one !== '')) {
    const [, hash, name] = /^([0-9a-f]{64}) {2}(\S.*)$/.exec(line) ?? []
    if (hash === undefined || name === undefined || listed.has(name)) return [`${SUMS} has a line that is none`]
    listed.set(name, hash)
  }
  return [
    ...[...listed].flatMap(([name, hash]) => {
      if (!found.has(name)) return [`${name} is missing`]
      return found.get(name) === hash ? [] : [`${name} was changed`]
    }),
    ...[...found.keys()].filter((name) => !listed.has(name)).map((name) => `${name} was added`),
  ].toSorted()
}

const statement = z.object({
  _type: z.literal('https://in-toto.io/Statement/v1'),
  subject: z.array(z.object({ name: z.string(), digest: z.object({ sha256: z.string() }) })).length(1),
  predicateType: z.literal(PROVENANCE_TYPE),
  predicate: z.object({
    buildDefinition: z.object({
      resolvedDependencies: z.array(z.object({ digest: z.object({ gitCommit: z.string().optional() }) })).min(1),
    }),
    runDetails: z.object({ builder: z.object({ id: z.string() }) }),
  }),
})

/** Returns the mismatches between a provenance and a file's name and hash. Pure. */
export function provenanceProblems(text: string, name: string, hash: string): readonly string[] {
  const parsed = statement.safeParse(jsonIn(text))
  if (!parsed.success) return ['the provenance is not SLSA provenance of one file']
  const [subject] = parsed.data.subject
  if (subject?.name !== name) return [`the provenance is about ${subject?.name}, not about ${name}`]
  return subject.digest.sha256 === hash ? [] : [`${name} was changed: the provenance is about other bytes`]
}

export function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}

/** Returns the package's own files. The folder that npm puts at its top belongs to other packages. */
function filesBelow(root: string, below = ''): readonly string[] {
  return readdirSync(path.join(root, below), { withFileTypes: true }).flatMap((entry) => {
    const name = path.join(below, entry.name)
    if (entry.isDirectory()) return name === 'node_modules' ? [] : filesBelow(root, name)
    return name === SUMS || name === `${SUMS}.sig` ? [] : [name]
  })
}

/** Returns why a signature does not count. OpenSSH judges it: the list of signers is its `allowed_signers`. */
async function unsignedBy(signers: string, text: string, signature: string): Promise<string | undefined> {
  if ((await textOf(signature)) === undefined) return 'it is not signed'
  if ((await textOf(signers)) === undefined) return `the list of signers ${signers} cannot be read`
  const by = await signedBy(signers, NAMESPACE, signature, text)
  if (by.is === 'nobody') return `none of those in ${signers} has signed it`
  return by.is === 'signed' ? undefined : `the signature of ${by.who} does not fit`
}

async function textOf(file: string): Promise<string | undefined> {
  return readFile(file, 'utf8').catch(() => undefined)
}
