import { codeOf, importsOf, lineAt, type SourceFile } from './layers-source.ts'

/** One breach of the order of the sources, ready to be read: where, what, and what the rule is. */
export interface Breach {
  readonly rule: 'arrow' | 'implementation' | 'pure' | 'driver' | 'time' | 'print' | 'computed' | 'registry' | 'page'
  readonly path: string
  readonly line: number
  readonly message: string
}

/** What each folder of src/, and the simulator, may import: a folder, or one file of it. ARCHITECTURE.md says why. */
export const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  lib: [],
  model: ['lib'],
  proxmox: ['model', 'lib'],
  kinds: ['cloudinit', 'k3s', 'proxmox', 'model', 'lib'],
  k3s: ['model', 'lib'],
  plan: ['k3s', 'model', 'lib', 'kinds/kind.ts'],
  cloudinit: ['model', 'lib'],
  source: ['kinds', 'proxmox', 'model', 'lib'],
  kubernetes: ['model', 'lib'],
  vault: ['drivers/cluster-port.ts', 'kubernetes', 'model', 'lib'],
  drivers: ['cloudinit', 'k3s', 'proxmox', 'kubernetes', 'model', 'lib'],
  store: ['kubernetes', 'model', 'lib'],
  ssh: ['model', 'lib'],
  helm: ['ssh/child.ts', 'drivers/chart-port.ts', 'drivers/release-port.ts', 'model', 'lib'],
  engine: [
    'plan',
    'drivers/port.ts',
    'drivers/cluster-port.ts',
    'drivers/power-port.ts',
    'store/port.ts',
    'model',
    'lib',
  ],
  images: ['cloudinit', 'kinds', 'model', 'lib'],
  sim: ['k3s', 'model', 'lib'],
  controller: [
    'engine',
    'plan',
    'kinds',
    'source',
    'server/port.ts',
    'drivers/port.ts',
    'store/port.ts',
    'model',
    'lib',
  ],
  operator: ['controller', 'engine', 'kubernetes', 'kinds', 'source', 'store/port.ts', 'model', 'lib'],
  server: ['model', 'lib'],
  state: ['controller', 'source', 'store/port.ts', 'model', 'lib'],
  cli: [
    'state',
    'operator',
    'images',
    'server',
    'controller',
    'engine',
    'k3s',
    'kubernetes',
    'drivers/cluster-port.ts',
    'plan',
    'kinds',
    'source',
    'drivers/port.ts',
    'store/port.ts',
    'model',
    'lib',
  ],
}

/** Folders whose answers depend on their arguments alone. */
export const PURE = ['model', 'k3s', 'proxmox', 'kinds', 'plan', 'cloudinit']

/** What a pure folder may take from Node: pure functions only, by name. */
const PURE_NAMES: Readonly<Record<string, readonly string[]>> = {
  'node:crypto': ['createHash', 'createHmac', 'hash', 'X509Certificate'],
  'node:net': ['isIP', 'isIPv4', 'isIPv6', 'BlockList'],
  'node:util': ['inspect', 'isDeepStrictEqual', 'stripVTControlCharacters'],
  'node:path/posix': ['*', 'posix', 'basename', 'dirname', 'extname', 'join', 'normalize', 'relative'],
}

/** Time and chance come through lib's ports. These files are where the real ones enter. */
const TIME_ALLOWED = [
  'src/lib/clock.ts',
  'src/main.ts',
  'src/main/',
  'src/cli/',
  'src/state/',
  // Keys and serial numbers must not be guessable.
  'src/lib/x509.ts',
  'src/server/auth/unguessable.ts',
  // Sockets live in real time, and the simulator on a socket must answer in it.
  'src/lib/wire-exchange.ts',
  'src/lib/tls-dial.ts',
  'src/lib/tls-wire.ts',
  'src/lib/tunnel.ts',
  'sim/serve.ts',
  'sim/scaled-clock.ts',
  // Lets the event loop turn between two moments of virtual time; its timer only tells a stuck simulation.
  'sim/virtual-clock.ts',
]

const TIME =
  /\bDate\s*\.\s*now\b|\bnew\s+Date\s*(?!\s*\(\s*[^\s)])|\bMath\s*\.\s*random\b|\b(?:setTimeout|setInterval|setImmediate)\b|\bperformance\s*\.|\bcrypto\s*\.\s*(?:random|getRandom)\w*|\bprocess\s*\.\s*(?:hrtime|uptime)\b/g
const EFFECTS = /\bprocess\s*[.[]|\bfetch\s*\(|\bglobalThis\b|\bqueueMicrotask\b/g
const PRINTS = /\bconsole\s*\.|\bprocess\s*\.\s*(?:stdout|stderr)\b/g
/** Chance by another name: what these give cannot be repeated by a seed. */
const CHANCE_NAMES = /^(?:random|generate)/
const TIME_MODULES = ['node:timers', 'node:timers/promises', 'node:perf_hooks']

/** Test files may know everything: they stand outside and look in. So may the suites and fixtures that they share. */
export function isTestCode(path: string): boolean {
  return /\.test\.ts$|\/testing\//.test(path) || !isOurs(path)
}

/** Every breach in these files, in their order. */
export function findBreaches(files: readonly SourceFile[]): readonly Breach[] {
  return files.filter(({ path }) => path.endsWith('.ts') && !isTestCode(path)).flatMap(breachesOf)
}

/**
 * Files of src/ that no entry leads to: test code that looks like the product, or the product's dead code. The simulator
 * serves tests too, so that it may have more than the program starts.
 */
export function unreached(files: readonly SourceFile[], entries: readonly string[]): readonly string[] {
  const known = new Map(files.map((file) => [file.path, file]))
  const reached = new Set<string>()
  const next = [...entries]
  for (let path = next.pop(); path !== undefined; path = next.pop()) {
    const file = known.get(path)
    if (file === undefined || reached.has(path)) continue
    reached.add(path)
    next.push(...importsOf(file).map(({ target }) => target))
  }
  return [...known.keys()].filter((path) => path.startsWith('src/') && !isTestCode(path) && !reached.has(path))
}

function breachesOf(file: SourceFile): Breach[] {
  const { path } = file
  const folder = folderOf(path)
  const breaches: Breach[] = []
  const add = (rule: Breach['rule'], line: number, message: string) => breaches.push({ rule, path, line, message })

  for (const { specifier, target, names, computed, line } of importsOf(file)) {
    if (computed) add('computed', line, 'an import() of a computed path: nobody can tell what it brings')
    else if (isTestCode(target) && isOurs(target)) add('arrow', line, `the product imports test code: ${specifier}`)
    else if (isOurs(target)) {
      if (folder === undefined) continue
      const broken = brokenArrow(path, folder, target)
      if (broken !== undefined) add(broken.rule, line, broken.message)
    } else if (specifier.startsWith('.') && folder !== undefined && folderOf(target) !== folder) {
      if (!target.endsWith('.json')) add('arrow', line, `${specifier} is outside src/ and sim/`)
    } else {
      const forbidden = PURE.includes(folder ?? '') ? impureImport(specifier, names) : undefined
      if (forbidden !== undefined) add('pure', line, `${folder}/ is pure and may not import ${forbidden}`)
      else if (specifier === 'node:crypto' && names.some((name) => CHANCE_NAMES.test(name)) && !mayTellTime(path))
        add('time', line, `${names.filter((name) => CHANCE_NAMES.test(name)).join(', ')}: chance comes from the Random`)
      else if (TIME_MODULES.includes(specifier) && !mayTellTime(path))
        add('time', line, `${specifier}: time comes from the Clock`)
    }
  }

  const code = codeOf(file.text).text
  const uses = (pattern: RegExp, rule: Breach['rule'], why: string) => {
    for (const match of code.matchAll(pattern)) add(rule, lineAt(code, match.index), `${match[0].trim()}: ${why}`)
  }
  if (PURE.includes(folder ?? '')) {
    uses(TIME, 'pure', `${folder}/ is pure: time and chance come in as arguments`)
    uses(EFFECTS, 'pure', `${folder}/ is pure: it touches nothing outside`)
  } else if (!mayTellTime(path)) uses(TIME, 'time', 'time comes from the Clock and chance from the Random of src/lib')
  if (folder !== undefined && folder !== 'cli') uses(PRINTS, 'print', 'only src/cli and main print')
  return breaches
}

/** The rule that an import between our own files breaks. */
function brokenArrow(path: string, folder: string, target: string): Pick<Breach, 'rule' | 'message'> | undefined {
  if (isMain(target)) return { rule: 'arrow', message: 'nothing imports main' }
  const to = folderOf(target)
  if (to === folder) {
    const [from, other] = [driverOf(path), driverOf(target)]
    if (other === undefined || from === other) return undefined
    const who = from === undefined ? `what drivers share` : `the ${from} driver`
    return { rule: 'driver', message: `${who} imports the ${other} driver: drivers do not know each other` }
  }
  if (to === undefined) return { rule: 'arrow', message: `${target} is in no folder of src/ or sim/` }
  const allowed = MAY_IMPORT[folder]
  if (allowed === undefined) return { rule: 'arrow', message: `src/${folder} is not in the table of folders` }
  if (allowed.includes(to) || allowed.includes(target.slice('src/'.length))) return undefined
  if (isImplementation(target)) {
    return { rule: 'implementation', message: `${target} is an implementation: only main names it` }
  }
  return {
    rule: 'arrow',
    message: `${folder} may not import ${target}; it may import ${allowed.join(', ') || 'nothing'}`,
  }
}

/** Code that stands behind a port, and the simulated world. */
function isImplementation(target: string): boolean {
  return (
    driverOf(target) !== undefined ||
    /^src\/store\/(?!port\.ts$)/.test(target) ||
    /^(?:sim|src\/ssh|src\/vault)\//.test(target)
  )
}

function impureImport(specifier: string, names: readonly string[]): string | undefined {
  if (!specifier.startsWith('node:')) return undefined
  const pure = PURE_NAMES[specifier]
  if (pure === undefined) return specifier
  const impure = names.filter((name) => !pure.includes(name))
  return impure.length === 0 ? undefined : `${impure.join(', ')} of ${specifier}`
}

function mayTellTime(path: string): boolean {
  return TIME_ALLOWED.some((allowed) => path === allowed || (allowed.endsWith('/') && path.startsWith(allowed)))
}

/** The product's own code: of the program, or of its simulator. */
function isOurs(path: string): boolean {
  return /^(?:src|sim)\//.test(path)
}

/** Where implementations are named: the entry, and the files that put its parts together. */
export function isMain(path: string): boolean {
  return path === 'src/main.ts' || path.startsWith('src/main/')
}

/** `plan` of `src/plan/things/decide.ts`; undefined for what lies in src/ itself, and for main, which no table binds. */
function folderOf(path: string): string | undefined {
  if (isMain(path)) return undefined
  return path.startsWith('sim/') ? 'sim' : /^src\/([^/]+)\//.exec(path)?.[1]
}

/** `proxmox` of `src/drivers/proxmox/api.ts`; undefined for what drivers share. */
function driverOf(path: string): string | undefined {
  return /^src\/drivers\/([^/]+)\//.exec(path)?.[1]
}
