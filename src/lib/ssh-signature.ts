import { spawn } from 'node:child_process'

/** The signer by OpenSSH's judgement: an accepted one, none, or an accepted one of something else. */
export type SignedBy = { readonly is: 'signed' | 'other'; readonly who: string } | { readonly is: 'nobody' }

/**
 * Verifies the SSH signature of a text, by a list of signers in the form of `allowed_signers`, today. A signature for
 * another `namespace` does not count. Rejects where ssh-keygen cannot be started.
 */
export async function signedBy(
  signers: string,
  namespace: string,
  signature: string,
  text: string | Uint8Array,
): Promise<SignedBy> {
  const asked = await sshKeygen(['-Y', 'find-principals', '-f', signers, '-s', signature], '')
  const [who = ''] = asked.output.split('\n')
  if (!asked.ok || who === '') return { is: 'nobody' }
  const checked = await sshKeygen(['-Y', 'verify', '-f', signers, '-I', who, '-n', namespace, '-s', signature], text)
  return { is: checked.ok ? 'signed' : 'other', who }
}

function sshKeygen(
  args: readonly string[],
  input: string | Uint8Array,
): Promise<{ readonly ok: boolean; readonly output: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn('ssh-keygen', args, { stdio: ['pipe', 'pipe', 'ignore'], env: { PATH: process.env.PATH } })
    let output = ''
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      output += chunk
    })
    child.on('error', reject)
    child.on('close', (code) => resolve({ ok: code === 0, output }))
    // It may exit before it has read all input.
    child.stdin.on('error', () => {})
    child.stdin.end(input)
  })
}
