import { seedImage } from '../../cloudinit/image.ts'
import { nameOf as nameOfSecret, secretsIn, withSecrets } from '../../cloudinit/secrets.ts'
import type { Secret, SecretReference } from '../../model/secret.ts'
import type { Step } from '../../model/step.ts'
import type { Outcome } from '../../model/verdict.ts'
import type { DriverDeps } from '../port.ts'
import type { Api } from './api.ts'
import { cleanText } from './foreign.ts'

/** Makes the call of a step. Secrets are resolved here, when it is made, and are in no plan. */
export async function perform(api: Api, deps: DriverDeps, step: Step, signal: AbortSignal): Promise<Outcome> {
  const secrets = new Map<string, Secret>()
  for (const name of step.secretParams ?? []) {
    try {
      secrets.set(name, await deps.resolveSecret(JSON.parse(step.call.params[name] ?? '') as SecretReference))
    } catch (error) {
      return secretMissing(step, name, error)
    }
  }
  const guest = /\/(?:qemu|lxc)\/(\d+)/.exec(step.call.path)?.[1] ?? step.call.params.vmid
  const about = { doing: step.summary, host: step.host, ...(guest === undefined ? {} : { guest }) }
  if (step.upload === undefined) return api.write(step.call, secrets, about, signal)
  const document = step.upload.document.reveal()
  for (const reference of secretsIn(document)) {
    try {
      secrets.set(nameOfSecret(reference), await deps.resolveSecret(reference))
    } catch (error) {
      return secretMissing(step, 'what it reads at first boot', error)
    }
  }
  const bytes = seedImage(withSecrets(document, secrets))
  return api.write(step.call, secrets, about, signal, { name: step.upload.fileName, bytes })
}

function secretMissing(step: Step, what: string, error: unknown): Outcome {
  const why = cleanText(error instanceof Error ? error.message : 'unknown')
  const message = `could not ${step.summary}: the secret for ${what} could not be read: ${why}`
  return { result: 'refused', refusal: { reason: 'SecretMissing', meaning: 'stalled', message } }
}
