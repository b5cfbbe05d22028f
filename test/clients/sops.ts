import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startSimulator } from '../../sim/serve.ts'
import { passwordFrom, webVm } from '../binary/web-vm.ts'
import { commandsOf } from '../docs/printed.ts'
import { builtProgram } from './go-programs.ts'
import { runClient } from './python.ts'

const CROFT = join(import.meta.dirname, '../../bin/croft')
const PASSWORD = 'canary-hunter2'
const USERS = `apiVersion: v1
kind: Secret
metadata: {name: users}
stringData: {ubuntu: ${PASSWORD}}
`

/** The real sops and the real age-keygen write what docs/secrets.md prints, and croft reads it. */
export function sopsLife(): { readonly name: string; live(): Promise<string | undefined> } {
  return { name: 'sops v3.13.3 and age v1.2.1, as docs/secrets.md prints them', live }
}

async function live(): Promise<string | undefined> {
  const age = { module: 'filippo.io/age', version: 'v1.2.1', at: './cmd/age-keygen', file: 'age-keygen-v1.2.1' }
  const keygen = await builtProgram(age)
  if (typeof keygen === 'string') return keygen
  const module = 'github.com/getsops/sops/v3'
  const sops = await builtProgram({ module, version: 'v3.13.3', at: './cmd/sops', file: 'sops-v3.13.3' })
  if (typeof sops === 'string') return sops
  const simulator = await startSimulator({ preset: 'homelab', port: 0, speed: 50, seed: 5 })
  const folder = mkdtempSync(join(tmpdir(), 'croft-sops-'))
  try {
    const [bin, infra] = [join(folder, 'bin'), join(folder, 'infra')]
    for (const one of [bin, join(infra, 'secrets')]) mkdirSync(one, { recursive: true })
    symlinkSync(keygen.path, join(bin, 'age-keygen'))
    symlinkSync(sops.path, join(bin, 'sops'))
    symlinkSync(CROFT, join(bin, 'croft'))
    writeFileSync(join(infra, 'vm.yaml'), webVm({ fields: [passwordFrom('users')] }))
    writeFileSync(join(infra, 'secrets/users.yaml'), USERS)
    writeFileSync(
      join(infra, 'proxmox.yaml'),
      `apiVersion: croft.dev/v1alpha1
kind: Proxmox
metadata: {name: default}
spec: {endpoint: "${simulator.endpoint}", fingerprint: "${simulator.fingerprint}", token: {env: PROXMOX_TOKEN}}
`,
    )
    const env = { HOME: folder, PROXMOX_TOKEN: simulator.token, PATH: `${bin}:${process.env.PATH ?? ''}` }
    const inside = (...commands: readonly string[]) =>
      runClient('bash', ['-c', ['set -e', `cd ${infra}`, ...commands].join('\n')], env)
    const typed = await inside(...commandsOf('docs/secrets.md').map(({ text }) => text))
    assert.equal(typed.code, 0, typed.output)
    const encrypted = readFileSync(join(infra, 'secrets/users.yaml'), 'utf8')
    assert.match(encrypted, /ubuntu: ENC\[AES256_GCM,/)
    assert.doesNotMatch(encrypted, /hunter2/)
    const without = await inside('HOME=/nowhere croft plan . || :')
    assert.match(without.output, /secret-unread/)
    const applied = await inside('croft apply . --yes')
    assert.equal(applied.code, 0, applied.output)
    assert.match(applied.output, /Apply complete!/)
    assert.doesNotMatch(applied.output, /hunter2/)
    return undefined
  } finally {
    await simulator.close()
    rmSync(folder, { recursive: true, force: true })
  }
}
