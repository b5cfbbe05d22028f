// Makes what people install without npm, from this clone: node bin/run scripts/package.ts [--out DIRECTORY]
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { build } from './build.ts'
import { debianPackage, serviceUnit } from './debian-package.ts'
import { installedTree } from './installed-tree.ts'
import { archiveOf } from './release-parts.ts'
import { startedAs } from './started.ts'

/** Writes the tarball and the Debian package for this processor, of a directory in which everything has been built. */
export function packages(directory: string, out: string): readonly string[] {
  const { version } = JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8')) as { readonly version: string }
  const tree = installedTree(directory, version)
  const name = `croft-${version}-linux-${process.arch}`
  mkdirSync(out, { recursive: true })
  const tarball = join(out, `${name}.tar.gz`)
  const unit = serviceUnit(directory)
  const more = [{ name: 'lib/systemd/system/croft.service', bytes: Buffer.from(unit) }]
  writeFileSync(tarball, archiveOf(name, [...tree, ...more]))
  return [tarball, debianPackage(tree, unit, version, out)]
}

if (startedAs(import.meta.filename)) {
  const { values } = parseArgs({ options: { out: { type: 'string', default: 'release' } } })
  const root = dirname(import.meta.dirname)
  await build(join(root, 'dist'))
  await import('./build-web.ts')
  for (const path of packages(root, resolve(values.out))) process.stdout.write(`${path}\n`)
}
