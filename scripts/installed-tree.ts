// Where each file lies once croft is installed with its own Node: the same for the tarball and for the Debian package.
import { globSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { gzipSync } from 'node:zlib'
import { completionScript } from '../src/cli/completion-script.ts'
import { manPages } from './man-pages.ts'
import { type PackedFile, reproducible } from './release-parts.ts'

const COMPLETIONS = {
  bash: 'share/bash-completion/completions/croft',
  zsh: 'share/zsh/vendor-completions/_croft',
  fish: 'share/fish/vendor_completions.d/croft.fish',
} as const

/** Finds itself also through a link in a folder of PATH. */
const LAUNCHER = `#!/bin/sh
self=$(readlink -f "$0")
lib=\${self%/bin/croft}/lib/croft
exec "$lib/node" --max-semi-space-size=4 "$lib/bin/croft" "$@"
`

/** Files below a prefix such as /usr, of a directory in which everything has been built. */
export function installedTree(directory: string, version: string): readonly PackedFile[] {
  const node = join(directory, 'node_modules', `node-linux-${process.arch}`, 'bin', 'node')
  const program = ['package.json', 'bin/*', 'dist/**/*', 'examples/**/*'].flatMap((pattern) =>
    filesOf(directory, pattern),
  )
  const documents = ['README.md', 'CHANGELOG.md', 'LICENSE', 'docs/**/*.md'].flatMap((pattern) =>
    filesOf(directory, pattern),
  )
  return [
    { name: 'bin/croft', bytes: Buffer.from(LAUNCHER), mode: 0o755 },
    { name: 'lib/croft/node', bytes: readFileSync(node), mode: 0o755 },
    ...program.map((name) => ({ name: `lib/croft/${name}`, bytes: readFileSync(join(directory, name)) })),
    ...documents.map((name) => ({ name: `share/doc/croft/${name}`, bytes: readFileSync(join(directory, name)) })),
    ...[...manPages(directory, version)].map(([name, text]) => ({
      name: `share/man/man1/${name}.gz`,
      bytes: reproducible(gzipSync(text, { level: 9 })),
    })),
    ...(['bash', 'zsh', 'fish'] as const).map((shell) => ({
      name: COMPLETIONS[shell],
      bytes: Buffer.from(completionScript(shell) ?? ''),
    })),
  ]
}

function filesOf(directory: string, pattern: string): readonly string[] {
  return globSync(pattern, { cwd: directory, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(resolve(directory).length + 1))
}
