import type { TestClient } from '../../../../sim/test-client.ts'
import { simWire } from '../../../../sim/wire.ts'
import { proxmoxDriver } from '../../../drivers/proxmox/driver.ts'
import { findKind, KINDS } from '../../../kinds/registry.ts'
import { seededRandom } from '../../../lib/random.ts'
import { Secret } from '../../../model/secret.ts'
import { link } from '../../../plan/link.ts'
import { readTexts } from '../../../source/testing/fixture.ts'
import { runCli } from '../../run.ts'
import type { LoadedEstate } from '../../runtime.ts'
import { fakeRuntime } from '../../testing/fake-runtime.ts'

const FINGERPRINT = Array.from({ length: 32 }, () => 'AA').join(':')
/** The connection to the simulated datacentre. */
export const CONNECTION = `apiVersion: croft.dev/v1alpha1
kind: Proxmox
metadata: {name: home}
spec: {endpoint: "https://127.0.0.1:8006", fingerprint: "${FINGERPRINT}", token: {env: TOKEN}}
`

export const driverDeps = (client: TestClient) => ({
  clock: client.clock,
  random: seededRandom(7),
  openWire: () => simWire(client.datacentre),
  resolveSecret: async () => new Secret(client.datacentre.token),
})

/** Texts as a directory of manifests. */
export function loaded(texts: Readonly<Record<string, string>>): LoadedEstate {
  const read = readTexts(texts)
  return { declarations: read.declarations, estate: link(read, { findKind }), files: read.files, ignored: 0 }
}

function runtimeFor(client: TestClient, texts: Readonly<Record<string, string>>) {
  return fakeRuntime({
    kinds: async () => KINDS,
    load: async () => loaded(texts),
    openDrivers: async () => ({ drivers: [proxmoxDriver], deps: driverDeps(client) }),
  })
}

/** Runs `croft import proxmox` against a simulated datacentre. */
export async function imported(
  client: TestClient,
  texts: Readonly<Record<string, string>>,
  ...words: readonly string[]
) {
  const runtime = runtimeFor(client, texts)
  const code = await client.clock.runUntil(runCli(['import', 'proxmox', '/', ...words], runtime))
  return { code, ...runtime.written }
}
