import { existsSync, mkdirSync, symlinkSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'

/** What a test may know of the computer. Everything else is configuration of a person, and no test may depend on it. */
const KEPT = ['PATH', 'TMPDIR', 'USER', 'LOGNAME', 'SHELL', 'CI']
/** How tests are run: CONTRIBUTING and the tests themselves name them. */
const OF_TESTS =
  /^CROFT_(?:TEST_\w+|LONG|SEEDS?|CASES|POINT|EVIDENCE|REAL|K3S|SCREENSHOTS|UPDATE|HELM)$|^SHOW(?:_DIFFERENCES)?$|^NODE_(?:V8_COVERAGE|CHANNEL_FD)$/
/** Files of certificates: behind some networks nothing can be fetched without. One that is gone would be warned about. */
const CERTIFICATES = [
  'NODE_EXTRA_CA_CERTS',
  'SSL_CERT_FILE',
  'SSL_CERT_DIR',
  'GIT_SSL_CAINFO',
  'CURL_CA_BUNDLE',
  'PIP_CERT',
]

/** Makes a home for tests: empty, but for what tests fetch once and keep. */
export function makeTestHome(home: string): void {
  const kept = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'croft')
  mkdirSync(kept, { recursive: true })
  mkdirSync(join(home, '.cache'), { recursive: true })
  symlinkSync(kept, join(home, '.cache', 'croft'))
}

/**
 * The environment of a test process. It has a separate home, and sees no configuration of Git, npm or SSH, no proxy, no
 * locale and no time zone.
 */
export function testEnvironment(
  env: Readonly<Record<string, string | undefined>>,
  home: string,
): Record<string, string> {
  const kept = Object.entries(env).filter(
    ([name, value]) =>
      KEPT.includes(name) || OF_TESTS.test(name) || (CERTIFICATES.includes(name) && existsSync(value ?? '')),
  )
  return {
    ...(Object.fromEntries(kept) as Record<string, string>),
    HOME: home,
    LANG: 'C.UTF-8',
    TZ: 'UTC',
    TERM: 'dumb',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_CONFIG_SYSTEM: '/dev/null',
    GIT_TERMINAL_PROMPT: '0',
  }
}
