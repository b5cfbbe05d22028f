import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { type LaterManifest, SceneFailed } from './scene.ts'

export interface ExampleConnection {
  readonly endpoint: string
  readonly fingerprint: string
  readonly tokenVariable: string
}

const THIRD_NODE = /^\s*name:\s*k3s-vm-fun-bedbug\s*$/m
const CONNECTION = /^kind:\s*Proxmox\s*$/m

/** Copies the example, pointed at the simulated datacentre, and holds the third node back. */
export function writeExample(example: string, directory: string, facts: ExampleConnection): LaterManifest {
  cpSync(example, directory, { recursive: true })
  let later: LaterManifest | undefined
  let connected = false
  for (const entry of readdirSync(directory, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || !/\.ya?ml$/.test(entry.name)) continue
    const full = path.join(entry.parentPath, entry.name)
    const text = readFileSync(full, 'utf8')
    if (THIRD_NODE.test(text)) {
      later = { file: path.relative(directory, full), text }
      writeFileSync(full, '')
    } else if (CONNECTION.test(text)) {
      writeFileSync(full, connectionManifest(facts))
      connected = true
    }
  }
  if (later === undefined || !connected) {
    throw new SceneFailed(`the example in ${example} lacks ${connected ? 'the third node' : 'its connection'}`)
  }
  return later
}

function connectionManifest({ endpoint, fingerprint, tokenVariable }: ExampleConnection): string {
  return `apiVersion: croft.dev/v1alpha1
kind: Proxmox
metadata:
  name: default
spec:
  endpoint: ${endpoint}
  fingerprint: "${fingerprint}"
  token:
    env: ${tokenVariable}
`
}
