import { existsSync } from 'node:fs'
import path from 'node:path'
import { writeData } from '../output.ts'
import { API_VERSION } from '../render/plan-json.ts'
import { cleanLines } from '../render/text.ts'
import type { Runtime } from '../runtime.ts'
import { CliError, EXIT, UsageError, type Verb } from '../verb.ts'

export const run: Verb = async (runtime, _args, { output, verify, signers }) => {
  if (verify !== undefined) return verified(runtime, verify, signers)
  const about = {
    apiVersion: API_VERSION,
    kind: 'Version',
    croft: runtime.version,
    node: process.versions.node,
    platform: `${process.platform}/${process.arch}`,
  }
  if (!(await writeData(runtime, output, about)))
    runtime.out.write(`croft ${about.croft} (Node ${about.node}, ${about.platform}, manifests ${API_VERSION})\n`)
  return EXIT.ok
}

/** Verifies a package file, or this copy. Only a person can name its signers. */
async function verified(runtime: Runtime, artefact: unknown, signers: unknown) {
  if (typeof signers !== 'string')
    throw new UsageError(
      'Name the list of those who may have signed it with --signers, in the form of allowed_signers.',
    )
  const root = path.resolve(import.meta.dirname, '../../..')
  if (artefact === true && existsSync(path.join(root, 'src', 'main.ts')))
    throw new CliError('This is a clone: Git says what is in it (git status, git verify-commit). Name a package file.')
  const { verifyArtefact, verifyInstalled } = await import('../verify-release.ts')
  const list = path.resolve(runtime.cwd, signers)
  const what = typeof artefact === 'string' ? artefact : root
  const wrong =
    typeof artefact === 'string'
      ? await verifyArtefact(path.resolve(runtime.cwd, artefact), list)
      : await verifyInstalled(root, list)
  if (wrong.length > 0)
    throw new CliError(
      `${what} is not what was released:\n${cleanLines(wrong.slice(0, 20).join('\n'))}\nDo not use it.`,
    )
  runtime.out.write(`${what} is what was released.\n`)
  return EXIT.ok
}
