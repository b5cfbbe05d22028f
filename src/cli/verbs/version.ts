import { EXIT } from '../exit.ts'
import { writeJson, writeYaml } from '../output.ts'
import type { Verb } from '../program.ts'
import { API_VERSION } from '../render/plan-json.ts'

export const run: Verb = async (runtime, _args, { output }) => {
  const about = {
    apiVersion: API_VERSION,
    kind: 'Version',
    croft: runtime.version,
    node: process.versions.node,
    platform: `${process.platform}/${process.arch}`,
  }
  if (output === 'json') writeJson(runtime.out, about)
  else if (output === 'yaml') await writeYaml(runtime.out, about)
  else runtime.out.write(`croft ${about.croft} (Node ${about.node}, ${about.platform}, manifests ${API_VERSION})\n`)
  return EXIT.ok
}
