import { join } from 'node:path'
import type { Walk } from '../reader.ts'

const ROOT = join(import.meta.dirname, '../../..')

/** A reader who has downloaded a release and got the key separately. */
export const RELEASE: Walk = {
  name: 'a release',
  pages: ['SECURITY.md'],
  ground: `ssh-keygen -q -t ed25519 -N '' -C release -f release
node ${ROOT}/bin/run ${ROOT}/test/docs/released.ts release`,
  steps: {
    'ssh-keygen -Y verify -f signers -I releases@croft -n croft-release \\\n  -s croft-0.1.0.provenance.json.sig < croft-0.1.0.provenance.json':
      { says: /^Good "croft-release" signature for releases@croft/m },
    'croft version --verify croft-0.1.0.tgz --signers signers': { says: /croft-0\.1\.0\.tgz/ },
    'ssh-keygen -Y verify -f ../signers -I releases@croft -n croft-release -s SHA256SUMS.sig < SHA256SUMS': {
      says: /^Good "croft-release" signature/m,
    },
  },
}
