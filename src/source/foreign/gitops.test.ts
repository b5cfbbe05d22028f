import assert from 'node:assert/strict'
import { test } from 'node:test'
import { errorsOf, readText } from '../testing/fixture.ts'
import { printDrafts } from './draft.ts'
import { argocd } from './formats/argocd.ts'
import { flux } from './formats/flux.ts'
import type { ForeignFormat } from './reading.ts'

function read(format: ForeignFormat, text: string, cluster: string | undefined = 'home') {
  const reading = format.read([{ path: 'a.yaml', text }], cluster === undefined ? {} : { cluster })
  assert.ok(!('problem' in reading))
  assert.deepEqual(errorsOf(readText(printDrafts(reading.drafts))), [])
  return {
    specs: reading.drafts.map(({ manifest }) => ({ name: manifest.metadata.name, ...(manifest.spec as object) })),
    why: reading.notCarried.map(({ what, why }) => `${what}: ${why}`),
  }
}

const COMMIT = '0123456789abcdef0123456789abcdef01234567'
const FLUX = `apiVersion: source.toolkit.fluxcd.io/v1
kind: HelmRepository
metadata: {name: podinfo, namespace: flux-system}
spec: {url: "https://stefanprodan.github.io/podinfo"}
---
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: podinfo, namespace: web}
spec:
  releaseName: podinfo
  chart: {spec: {chart: podinfo, version: 6.9.2, sourceRef: {kind: HelmRepository, name: podinfo, namespace: flux-system}}}
  values: {replicaCount: 2}
`

test('a HelmRelease becomes an add-on with its chart, its namespace and its values', () => {
  const { specs, why } = read(flux, FLUX)
  assert.deepEqual(why, [])
  assert.deepEqual(specs, [
    {
      name: 'podinfo',
      cluster: 'home',
      namespace: 'web',
      chart: {
        repo: 'https://stefanprodan.github.io/podinfo',
        name: 'podinfo',
        version: '6.9.2',
        values: { replicaCount: 2 },
      },
      adopt: true,
    },
  ])
})

test('a chart of a registry, by HelmRepository and by OCIRepository', () => {
  const helm = read(flux, FLUX.replace('https://stefanprodan.github.io/podinfo', 'oci://ghcr.io/me/charts/'))
  assert.match(JSON.stringify(helm.specs), /"name":"oci:\/\/ghcr\.io\/me\/charts\/podinfo","version":"6\.9\.2"/)
  const oci = read(
    flux,
    `apiVersion: source.toolkit.fluxcd.io/v1
kind: OCIRepository
metadata: {name: a, namespace: x}
spec: {url: "oci://ghcr.io/me/charts/a", ref: {tag: 1.2.3}}
---
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: a, namespace: x}
spec: {chartRef: {kind: OCIRepository, name: a}}
`,
  )
  assert.match(JSON.stringify(oci.specs), /"name":"oci:\/\/ghcr\.io\/me\/charts\/a","version":"1\.2\.3"/)
})

const KUSTOMIZATION = (ref: string, more = '') => `apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: repo, namespace: flux-system}
spec: {url: "https://git.example.org/repo", ref: ${ref}}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: apps, namespace: flux-system}
spec: {path: ./apps/web, sourceRef: {kind: GitRepository, name: repo}${more}}
`

test('a Kustomization at a commit becomes an add-on; of a branch it is named with what to do', () => {
  const { specs, why } = read(flux, KUSTOMIZATION(`{commit: ${COMMIT}}`))
  assert.deepEqual(why, [])
  assert.deepEqual(specs, [
    {
      name: 'apps',
      cluster: 'home',
      git: { url: 'https://git.example.org/repo', commit: COMMIT, path: 'apps/web' },
      adopt: true,
    },
  ])
  assert.match(read(flux, KUSTOMIZATION('{branch: main}')).why.join(), /main is not a commit; pin one/)
  assert.match(read(flux, KUSTOMIZATION(`{commit: ${COMMIT}}`, ', postBuild: {}')).why.join(), /postBuild changes what/)
  assert.match(read(flux, KUSTOMIZATION(`{commit: ${COMMIT}}`, ', suspend: true')).why.join(), /suspended/)
})

const GIT_CHART = (ref: string, more = '') => `apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: repo, namespace: web}
spec: {url: "https://git.example.org/repo", ref: ${ref}}
---
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: web, namespace: web}
spec:
  chart: {spec: {chart: ./charts/web, sourceRef: {kind: GitRepository, name: repo}${more}}}
  values: {replicas: 2}
`

test('a HelmRelease whose chart is a directory of a repository at a commit becomes an add-on with it', () => {
  const { specs, why } = read(flux, GIT_CHART(`{branch: main, commit: ${COMMIT}}`))
  assert.deepEqual(why, [])
  const git = { url: 'https://git.example.org/repo', commit: COMMIT, path: 'charts/web' }
  assert.deepEqual(specs, [
    { name: 'web', cluster: 'home', namespace: 'web', chart: { git, values: { replicas: 2 } }, adopt: true },
  ])
  assert.match(read(flux, GIT_CHART('{branch: main}')).why.join(), /main is not a commit; pin one/)
  assert.match(read(flux, GIT_CHART('{semver: ">=1"}')).why.join(), />=1 is not a commit/)
  const files = read(flux, GIT_CHART(`{commit: ${COMMIT}}`, ', valuesFiles: [./charts/web/prod.yaml]'))
  assert.equal(files.specs.length, 1)
  assert.match(files.why.join(), /valuesFiles names files inside the chart/)
})

test('what Flux has and croft has not is listed with its reason', () => {
  assert.match(
    read(flux, FLUX.replace('version: 6.9.2', 'version: ">=6"')).why.join(),
    />=6, which is not an exact one/,
  )
  assert.match(
    read(flux, FLUX.replace('name: podinfo, namespace: flux-system}}}', 'name: gone}}}')).why.join(),
    /not among the files/,
  )
  assert.match(read(flux, `${FLUX}  valuesFrom: [{kind: Secret, name: s}]\n`).why.join(), /valuesFrom/)
  assert.match(
    read(flux, 'apiVersion: image.toolkit.fluxcd.io/v1\nkind: ImagePolicy\nmetadata: {name: a}\nspec: {}\n').why.join(),
    /ImagePolicy a: croft has no kind for it/,
  )
  const without = flux.read([{ path: 'a.yaml', text: FLUX }], {})
  assert.ok('notCarried' in without)
  assert.match(without.notCarried[0]?.why ?? '', /--cluster/)
  assert.deepEqual(read(flux, 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n').why, [])
})

const APPLICATION = (source: string, destination = 'server: "https://kubernetes.default.svc", namespace: web') =>
  `apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: web, namespace: argocd}
spec:
  project: default
  destination: {${destination}}
  source: ${source}
`

test('an Application with a chart or with a directory at a commit becomes an add-on', () => {
  const chart = read(
    argocd,
    APPLICATION(
      '{repoURL: "https://charts.example.org", chart: web, targetRevision: 1.2.3, helm: {values: "a: {b: 1, c: 2}", valuesObject: {a: {b: 3}}, parameters: [{name: a.d, value: "true"}, {name: a.e, value: "5", forceString: true}]}}',
    ),
  )
  assert.deepEqual(chart.why, [])
  assert.deepEqual(chart.specs, [
    {
      name: 'web',
      cluster: 'home',
      namespace: 'web',
      chart: {
        repo: 'https://charts.example.org',
        name: 'web',
        version: '1.2.3',
        values: { a: { b: 3, c: 2, d: true, e: '5' } },
      },
      adopt: true,
    },
  ])
  const directory = read(
    argocd,
    APPLICATION(`{repoURL: "https://git.example.org/repo", path: apps/web, targetRevision: ${COMMIT}}`),
  )
  assert.deepEqual(directory.specs, [
    {
      name: 'web',
      cluster: 'home',
      namespace: 'web',
      git: { url: 'https://git.example.org/repo', commit: COMMIT, path: 'apps/web' },
      adopt: true,
    },
  ])
})

test('an Application whose directory is a chart becomes an add-on with the chart at its commit', () => {
  const chart = (revision: string) =>
    APPLICATION(
      `{repoURL: "https://x.org/garage.git", path: script/helm/garage, targetRevision: ${revision}, helm: {releaseName: store, valuesObject: {replicas: 3}}}`,
    )
  const { specs, why } = read(argocd, chart(COMMIT))
  assert.deepEqual(why, [])
  assert.deepEqual(specs, [
    {
      name: 'store',
      cluster: 'home',
      namespace: 'web',
      chart: {
        git: { url: 'https://x.org/garage.git', commit: COMMIT, path: 'script/helm/garage' },
        values: { replicas: 3 },
      },
      adopt: true,
    },
  ])
  const branch = read(argocd, chart('main'))
  assert.deepEqual(branch.specs, [])
  assert.match(branch.why.join(), /main is not a commit; pin one/)
})

test('an ApplicationSet with a list is one add-on for each element; another generator is named', () => {
  const set = (generators: string, version = '{{version}}') => `apiVersion: argoproj.io/v1alpha1
kind: ApplicationSet
metadata: {name: many, namespace: argocd}
spec:
  generators: ${generators}
  template:
    metadata: {name: "{{ .app }}"}
    spec:
      destination: {name: in-cluster, namespace: "{{app}}"}
      source: {repoURL: ghcr.io/me/charts, chart: "{{app}}", targetRevision: "${version}"}
`
  const list = '[{list: {elements: [{app: a, version: 1.0.0}, {app: b, version: 2.0.0}]}}]'
  const { specs, why } = read(argocd, set(list))
  assert.deepEqual(why, [])
  assert.deepEqual(
    specs.map((one) => [one.name, JSON.stringify(one).includes('oci://ghcr.io/me/charts/')]),
    [
      ['a', true],
      ['b', true],
    ],
  )
  assert.match(read(argocd, set('[{clusters: {}}]')).why.join(), /generator clusters asks a cluster/)
  assert.match(read(argocd, set(list, '{{nobody}}')).why.join(), /placeholder that its generator does not fill/)
})

test('what Argo CD has and croft has not is listed with its reason', () => {
  const chart = '{repoURL: "https://charts.example.org", chart: web, targetRevision: 1.2.3}'
  assert.match(read(argocd, APPLICATION(chart, 'server: "https://10.0.0.9:6443"')).why.join(), /another cluster/)
  assert.match(read(argocd, APPLICATION(chart.replace('1.2.3', '1.*'))).why.join(), /not an exact one/)
  assert.match(read(argocd, APPLICATION('{repoURL: "https://x.org/r", path: a, plugin: {}}')).why.join(), /plugin/)
  assert.match(read(argocd, APPLICATION('{repoURL: "git@x.org:r", path: a}')).why.join(), /over https/)
  assert.match(
    read(argocd, 'apiVersion: argoproj.io/v1alpha1\nkind: AppProject\nmetadata: {name: team}\nspec: {}\n').why.join(),
    /AppProject team: croft has no projects/,
  )
})

test('an ApplicationSet over directories is one add-on for each directory at hand that fits', () => {
  const set = (directories: string, name = '{{path.basename}}', more = '') => `apiVersion: argoproj.io/v1alpha1
kind: ApplicationSet
metadata: {name: dirs, namespace: argocd}
spec:
  generators: [{git: {repoURL: "https://git.example.org/repo", revision: main, directories: ${directories}${more}}}]
  template:
    metadata: {name: "${name}"}
    spec:
      destination: {server: "https://kubernetes.default.svc", namespace: "{{path[1]}}"}
      source: {repoURL: "https://git.example.org/repo", path: "{{path}}", targetRevision: ${COMMIT}}
`
  const readSet = (text: string) => {
    const paths = ['apps/web/a.yaml', 'apps/web/deep/b.yaml', 'apps/DB_1/c.yaml', 'apps/old/d.yaml', 'other/e.yaml']
    const files = [{ path: 'set.yaml', text }, ...paths.map((path) => ({ path, text: '' }))]
    const reading = argocd.read(files, { cluster: 'home' })
    assert.ok(!('problem' in reading))
    assert.deepEqual(errorsOf(readText(printDrafts(reading.drafts))), [])
    const made = reading.drafts.map(({ manifest }) => {
      const { namespace, git } = manifest.spec as {
        readonly namespace: string
        readonly git: { readonly path: string }
      }
      return [manifest.metadata.name, namespace, git.path]
    })
    return { made, why: reading.notCarried.map(({ why }) => why).join() }
  }
  const { made, why } = readSet(
    set('[{path: apps/*}, {path: apps/o?d, exclude: true}, {path: apps/DB*, exclude: true}]'),
  )
  assert.equal(why, '')
  assert.deepEqual(made, [['web', 'web', 'apps/web']])
  assert.deepEqual(
    readSet(set('[{path: "apps/D*1"}]', '{{ .path.basenameNormalized }}').replace('{{path[1]}}', 'db')).made,
    [['db-1', 'db', 'apps/DB_1']],
  )
  assert.deepEqual(
    readSet(set('[{path: "*/*/*"}]')).made.map(([name]) => name),
    ['deep'],
  )
  assert.match(readSet(set('[{path: nowhere/*}]')).why, /no directory of these files fits/)
  assert.match(readSet(set('[{path: apps/*}]', '{{index .path.segments 0}}')).why, /does not fill/)
  assert.match(readSet(set('[]', 'a', ', files: [{path: x.json}]')).why, /no file of these fits its patterns/)
  assert.match(readSet(set('[{path: apps/*}]', 'a', ', pathParamPrefix: x')).why, /pathParamPrefix/)
  assert.match(readSet(set('[{path: apps/web}]').replace(COMMIT, 'main')).why, /not applied without recurse/)
})

test('an Application of the repository at hand follows its branch as an add-on with path', () => {
  const app = (name: string, source: string, url = 'https://git.example.org/me/repo.git') => ({
    path: `argo/${name}.yaml`,
    text: APPLICATION(`{repoURL: "${url}", targetRevision: HEAD, ${source}}`).replace('name: web,', `name: ${name},`),
  })
  const map = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n'
  const reading = argocd.read(
    [
      app('plain', 'path: ./apps/plain/'),
      app('built', 'path: apps/built, kustomize: {}', 'git@git.example.org:me/repo'),
      app('deep', 'path: apps/deep, directory: {recurse: true}'),
      app('shallow', 'path: apps/deep'),
      app('prefixed', 'path: apps/built, kustomize: {namePrefix: x-}'),
      app('wrapped', 'path: apps/wrapped, helm: {valuesObject: {inner: {b: 3}}}'),
      app('chart', 'path: apps/chart'),
      app('root', 'path: argo'),
      app('stranger', 'path: apps/plain', 'https://git.example.org/other'),
      app('stranger-2', 'path: nowhere', 'https://git.example.org/other'),
      { path: 'apps/plain/a.yaml', text: map },
      { path: 'apps/built/kustomization.yaml', text: 'resources: [a.yaml]\n' },
      { path: 'apps/deep/a.yaml', text: map },
      { path: 'apps/deep/er/b.yaml', text: map },
      { path: 'apps/chart/Chart.yaml', text: 'name: c\nversion: 1.0.0\n' },
      {
        path: 'apps/wrapped/Chart.yaml',
        text: 'dependencies: [{name: store, alias: inner, version: 1.2.3, repository: "https://c.example.org"}]\n',
      },
      { path: 'apps/wrapped/values.yaml', text: 'global: {g: 1}\ninner: {a: 1, b: 2}\nother: 4\n' },
    ],
    { cluster: 'home' },
  )
  assert.ok(!('problem' in reading))
  assert.deepEqual(errorsOf(readText(printDrafts(reading.drafts))), [])
  const common = { cluster: 'home', namespace: 'web' }
  assert.deepEqual(
    reading.drafts.map(({ manifest }) => [manifest.metadata.name, manifest.spec]),
    [
      ['plain', { ...common, path: 'apps/plain', adopt: true }],
      ['built', { ...common, path: 'apps/built', adopt: true }],
      ['deep', { ...common, path: 'apps/deep', adopt: true }],
      [
        'wrapped',
        {
          ...common,
          chart: {
            repo: 'https://c.example.org',
            name: 'store',
            version: '1.2.3',
            values: { global: { g: 1 }, a: 1, b: 3 },
          },
          adopt: true,
        },
      ],
    ],
  )
  const why = reading.notCarried.map(({ what, why: reason }) => `${what}: ${reason}`).join('\n')
  assert.match(why, /shallow: directories below it are not applied without recurse/)
  assert.match(why, /prefixed: kustomize changes what the directory says/)
  assert.match(why, /chart: apps\/chart is a chart of this repository/)
  assert.match(why, /root: it applies Applications, which are imported themselves/)
  assert.match(why, /stranger: HEAD is not a commit/)
})

test('value files of an Application are read where they are at hand, by $name too', () => {
  const files = (more: string) => [
    {
      path: 'argo/web.yaml',
      text: APPLICATION('{}').replace(
        'source: {}',
        `sources:
    - {repoURL: "https://charts.example.org", chart: web, targetRevision: 1.2.3, helm: {valueFiles: [$own/web/values.yaml${more}], values: "b: 2"}}
    - {repoURL: "https://git.example.org/me/repo", targetRevision: main, ref: own}
---
${APPLICATION('{repoURL: "https://git.example.org/me/repo", path: web}').replace('name: web,', 'name: other,')}`,
      ),
    },
    { path: 'web/values.yaml', text: 'a: 1\nb: 1\n' },
  ]
  const read = (more: string) => {
    const reading = argocd.read(files(more), { cluster: 'home' })
    assert.ok(!('problem' in reading))
    const charts = reading.drafts.map(({ manifest }) => (manifest.spec as { readonly chart?: unknown }).chart)
    return { chart: charts[0], why: reading.notCarried.map(({ why }) => why) }
  }
  assert.deepEqual(read(''), {
    chart: { repo: 'https://charts.example.org', name: 'web', version: '1.2.3', values: { a: 1, b: 2 } },
    why: [],
  })
  assert.match(read(', $own/web/none.yaml').why.join(), /web\/none\.yaml is not among the files; write its values/)
  assert.match(read(', $foreign/x.yaml').why.join(), /\$foreign\/x\.yaml lies in a repository that is not at hand/)
})

test('an ApplicationSet over files is one add-on for each file; what chooses or changes them by a program is named', () => {
  const set = (generator: string, more = '') => `apiVersion: argoproj.io/v1alpha1
kind: ApplicationSet
metadata: {name: files, namespace: argocd}
spec:
  generators: [{git: {repoURL: "https://git.example.org/me/repo", revision: main, files: [{path: "apps/*/app.yaml"}]}${generator}}]
  template:
    metadata: {name: "{{path.basename}}-{{env.name}}"}
    spec:
      destination: {server: "https://kubernetes.default.svc", namespace: "{{ .namespace }}"}
      source: {repoURL: "https://git.example.org/me/repo", path: "{{path.path}}/live", targetRevision: main}
${more}`
  const read = (text: string) => {
    const files = [
      { path: 'set.yaml', text },
      { path: 'apps/web/app.yaml', text: 'namespace: web\nenv: {name: prod}\n' },
      { path: 'apps/web/live/a.yaml', text: '' },
    ]
    const reading = argocd.read(files, { cluster: 'home' })
    assert.ok(!('problem' in reading))
    return {
      specs: reading.drafts.map(({ manifest }) => ({ name: manifest.metadata.name, ...(manifest.spec as object) })),
      why: reading.notCarried.map(({ why }) => why).join(),
    }
  }
  assert.deepEqual(read(set('')), {
    specs: [{ name: 'web-prod', cluster: 'home', namespace: 'web', path: 'apps/web/live', adopt: true }],
    why: '',
  })
  assert.match(read(set(', selector: {matchLabels: {a: b}}')).why, /its selector chooses/)
  assert.match(read(set('', '  templatePatch: "{{x}}"\n')).why, /templatePatch changes each application/)
})
