import { dirname, join } from 'node:path'
import { build } from '../scripts/build.ts'
import { run } from './measure.ts'

const ROOT = dirname(import.meta.dirname)

/** The program as people install it, built into a folder: not the sources. Its launcher. */
export async function installed(place: string): Promise<string> {
  await build(join(place, 'dist'))
  // The program finds its version and launcher beside dist.
  for (const part of ['bin', 'package.json', 'node_modules'])
    await run({ program: 'cp', args: ['-a', join(ROOT, part), place] })
  return join(place, 'bin', 'croft')
}
