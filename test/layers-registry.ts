import { type Breach, isMain } from './layers-rules.ts'
import { importsOf, type SourceFile } from './layers-source.ts'

/** Files of src/kinds that are not kinds themselves. */
const NOT_KINDS = ['kind.ts', 'registry.ts', 'json-schema.ts', 'ssh-target.ts']

/**
 * Registry, folder and documentation must name the same kinds and drivers: an unregistered kind is dead, an
 * undocumented one does not exist for its users, and a page without code is a promise.
 */
export function findRegistryBreaches(files: readonly SourceFile[]): readonly Breach[] {
  return [...kindBreaches(files), ...driverBreaches(files), ...formatBreaches(files)]
}

function kindBreaches(files: readonly SourceFile[]): Breach[] {
  const kinds = namesAt(files, /^src\/kinds\/([^/]+)\.ts$/).filter(
    (name) => !NOT_KINDS.includes(`${name}.ts`) && !name.endsWith('.test'),
  )
  const registry = 'src/kinds/registry.ts'
  const registered = importedNames(
    files.filter(({ path }) => path === registry || path.startsWith('src/kinds/hypervisors/')),
    /^src\/kinds\/([^/]+)\.ts$/,
  ).filter((name) => !NOT_KINDS.includes(`${name}.ts`))
  const rows = tableKinds(files)
  const pages = namesAt(files, /^docs\/kinds\/([^/]+)\.md$/)
  return compare('kind', [...kinds, ...rows], [...registered, ...rows], registry, pages, 'docs/kinds')
}

/** Kinds that are rows of a table and not files of their own: settings, ours and the provider's. */
function tableKinds(files: readonly SourceFile[]): readonly string[] {
  return files
    .filter(({ path }) => path.startsWith('src/proxmox/') || path === 'src/kinds/settings/provider-table.ts')
    .flatMap(({ text }) => [...text.matchAll(/\bkind: '(\w+)'/g)])
    .map(([, kind = '']) => kind.replaceAll(/(?<=[a-z])(?=[A-Z])/g, '-').toLowerCase())
}

function driverBreaches(files: readonly SourceFile[]): Breach[] {
  const drivers = [...new Set(namesAt(files, /^src\/drivers\/(?!testing\/)([^/]+)\/.+\.ts$/))]
  const pages = namesAt(files, /^docs\/drivers\/([^/]+)\.md$/)
  const wired = importedNames(
    files.filter(({ path }) => isMain(path)),
    /^src\/drivers\/([^/]+)\//,
  )
  return compare('driver', drivers, [...new Set(wired)], 'src/main/drivers.ts', pages, 'docs/drivers')
}

/** Formats of other tools that `croft import` reads. */
function formatBreaches(files: readonly SourceFile[]): Breach[] {
  const folder = /^src\/source\/foreign\/formats\/([^/]+)\.ts$/
  const formats = namesAt(files, folder).filter((name) => !name.endsWith('.test'))
  const registry = 'src/source/foreign/registry.ts'
  const registered = importedNames(
    files.filter(({ path }) => path === registry),
    folder,
  )
  const pages = namesAt(files, /^docs\/import\/([^/]+)\.md$/)
  return compare('format', formats, registered, registry, pages, 'docs/import')
}

function compare(
  noun: string,
  inFolder: readonly string[],
  registered: readonly string[],
  registry: string,
  pages: readonly string[],
  pagesFolder: string,
): Breach[] {
  return [
    ...missing(inFolder, registered).map((name) =>
      breach('registry', registry, `the ${noun} ${name} is not registered`),
    ),
    ...missing(registered, inFolder).map((name) =>
      breach('registry', registry, `the ${noun} ${name} is registered and has no code`),
    ),
    ...missing(inFolder, pages).map((name) =>
      breach('page', `${pagesFolder}/${name}.md`, `the ${noun} ${name} has no page`),
    ),
    ...missing(pages, inFolder).map((name) =>
      breach('page', `${pagesFolder}/${name}.md`, `there is no ${noun} ${name}`),
    ),
  ]
}

function missing(names: readonly string[], from: readonly string[]): readonly string[] {
  return names.filter((name) => !from.includes(name))
}

function breach(rule: Breach['rule'], path: string, message: string): Breach {
  return { rule, path, line: 1, message }
}

function namesAt(files: readonly SourceFile[], pattern: RegExp): readonly string[] {
  return files.flatMap(({ path }) => pattern.exec(path)?.[1] ?? [])
}

function importedNames(files: readonly SourceFile[], pattern: RegExp): readonly string[] {
  return files.flatMap(importsOf).flatMap(({ target }) => pattern.exec(target)?.[1] ?? [])
}
