import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { after, test } from 'node:test'
import { endAll, scratch, start } from './children.ts'

after(endAll)

interface Mistake {
  readonly made: string
  /** Words after `croft`, typed in a directory without manifests; `estate` beside it has some. */
  readonly typed: readonly string[]
  readonly code: number
  /** What, where, why and how to go on: each must be in the answer. */
  readonly says: readonly RegExp[]
}

const MISTAKES: readonly Mistake[] = [
  ...(['get', 'health', 'validate'] as const).map((verb) => ({
    made: `croft ${verb} in a directory without manifests`,
    typed: [verb],
    code: 0,
    says: [/there is no manifest \(.yaml, .yml or .json\) in \/\S+\/here\. Is it the right directory\?/],
  })),
  {
    made: 'a doctor in a directory without a connection',
    typed: ['doctor'],
    code: 1,
    says: [/No connection is declared in \/\S+\/here\. Write a Proxmox object there first/, /or name the directory/],
  },
  {
    made: 'a name of one letter, which is no slip of any kind',
    typed: ['why', 'x'],
    code: 1,
    says: [/Nothing is called x, and there is no such kind\. Run croft get/],
  },
  {
    made: 'a controller with nothing to follow',
    typed: ['run'],
    code: 64,
    says: [/croft run has nothing to follow/, /croft run infra\//, /croft run --config/],
  },
  {
    made: 'a repository of this computer by its address',
    typed: ['run', 'file:///srv/home.git'],
    code: 64,
    says: [/sources\.0\.url: a repository on this computer is followed by its directory/, /without file:\/\//],
  },
  {
    made: 'a repository over SSH on the command line, which has no place for its host key',
    typed: ['run', 'ssh://git@git.example/home.git'],
    code: 64,
    says: [/ssh\.hostKey is missing/, /ssh-keyscan/, /goes into a file: croft run --config FILE/],
  },
  {
    made: 'branches of a directory that is not in Git',
    typed: ['plan', '../estate', '--base', 'main', '--head', 'mine'],
    code: 1,
    says: [/\.\.\/estate is not in a Git repository, and --base and --head name commits/, /git init/],
  },
  {
    made: 'an import from a directory with an error',
    typed: ['import', 'proxmox', '../broken'],
    code: 1,
    says: [/vm\.yaml:2:7/, /nothing was looked at or done\. Correct the files named above\.$/m],
  },
  {
    made: 'a file in the place where an identity is to be written',
    typed: ['init', '../taken', '--yes'],
    code: 1,
    says: [/taken\/estate\.yaml exists and declares no Estate/, /Rename or remove it, and run croft init .*again/],
  },
]

const VM = `apiVersion: virtualenvironmentvm.crossplane.io/v1alpha1
kind: EnvironmentVM
metadata: {name: web}
spec: {forProvider: {nodeName: still-fawn}}
`

for (const { made, typed, code, says } of MISTAKES)
  test(made, async () => {
    const root = scratch()
    const cwd = path.join(root, 'here')
    const files = {
      'estate/vm.yaml': VM,
      'broken/vm.yaml': 'apiVersion: croft.dev/v1alpha1\nkind: Machin\n',
      'taken/vm.yaml': VM,
      'taken/estate.yaml': '# later\n',
    }
    for (const name of ['here', 'estate', 'broken', 'taken']) mkdirSync(path.join(root, name))
    for (const [name, text] of Object.entries(files)) writeFileSync(path.join(root, name), text)
    const { stdout, stderr, code: ended } = await start(typed, { cwd, env: { HOME: path.join(root, 'home') } }).ended
    const answer = `${stdout}${stderr}`
    assert.equal(ended, code, answer)
    for (const part of says) assert.match(answer, part)
    assert.doesNotMatch(answer, /This was not expected|\n {4}at /, 'an ordinary mistake gets an ordinary sentence')
  })
