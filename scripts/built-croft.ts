import { cpSync, mkdirSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { findPage } from '../src/server/page-files.ts'
import { build } from './build.ts'

const ROOT = dirname(import.meta.dirname)

/** Makes croft in this directory as a package has it: a command begins with half the work. Answers what to start. */
export async function buildCroft(directory: string): Promise<string> {
  mkdirSync(join(directory, 'dist'), { recursive: true })
  for (const part of ['bin', 'package.json']) cpSync(join(ROOT, part), join(directory, part), { recursive: true })
  for (const part of ['docs', 'examples', 'node_modules']) symlinkSync(join(ROOT, part), join(directory, part))
  await build(join(directory, 'dist'))
  const page = await findPage()
  if (page !== undefined) symlinkSync(page, join(directory, 'dist', 'web'))
  return join(directory, 'bin', 'croft')
}
