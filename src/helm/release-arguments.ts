import type { KubernetesLogin } from '../drivers/release-port.ts'
import type { HelmWrite } from '../model/step.ts'

/* A run that changes a release, as data. */

type HelmUpgrade = Extract<HelmWrite, { readonly run: 'upgrade' }>

/**
 * Without --wait, because croft itself observes the workloads. With --reset-values, because Helm would keep the values
 * of the previous revision if none are declared.
 */
export function upgradeArguments(write: HelmUpgrade, archive: string, values: readonly string[]): readonly string[] {
  const labels = Object.entries(write.labels).map(([name, value]) => `${name}=${value}`)
  return [
    'upgrade',
    write.release,
    archive,
    '--install',
    '--namespace',
    write.namespace,
    '--reset-values',
    ...values.flatMap((file) => ['--values', file]),
    '--labels',
    labels.join(','),
    ...(write.takeOwnership === true ? ['--take-ownership'] : []),
  ]
}

export function uninstallArguments({ release, namespace }: HelmWrite): readonly string[] {
  return ['uninstall', release, '--namespace', namespace, '--ignore-not-found']
}

/** Returns a kubeconfig as JSON, which is YAML: one context, without the user's own files. */
export function kubeconfigFor({ endpoint, caPem, token, client, proxy }: KubernetesLogin): string {
  const base64 = (text: string) => Buffer.from(text).toString('base64')
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [
      {
        name: 'croft',
        cluster: {
          server: endpoint,
          ...(caPem === undefined ? {} : { 'certificate-authority-data': base64(caPem) }),
          ...(proxy === undefined ? {} : { 'proxy-url': proxy }),
        },
      },
    ],
    users: [
      {
        name: 'croft',
        user: {
          ...(token === undefined ? {} : { token: token.reveal() }),
          ...(client === undefined
            ? {}
            : {
                'client-certificate-data': base64(client.certificatePem),
                'client-key-data': base64(client.key.reveal()),
              }),
        },
      },
    ],
    contexts: [{ name: 'croft', context: { cluster: 'croft', user: 'croft' } }],
    'current-context': 'croft',
  })
}

/** Explains a failed run, with advice. */
export function explained(said: string): string {
  if (/unknown flag: --labels/.test(said)) return `${said}; install: helm needs Helm 3.13 or later`
  if (/unknown flag: --take-ownership/.test(said)) return `${said}; adopt: true needs Helm 3.17 or later here`
  if (/unknown flag: --ignore-not-found/.test(said)) return `${said}; install: helm needs Helm 3.13 or later`
  if (/cannot be imported into the current release|invalid ownership metadata/.test(said))
    return `${said}. Set adopt: true in the Addon to let Helm take what is there, or choose another name`
  return said
}

/** The process that made a directory of a run: of one that is gone, what it left is removed. */
export function processOf(directory: string): number | undefined {
  const found = /^croft-helm-(\d+)-/.exec(directory)?.[1]
  return found === undefined ? undefined : Number(found)
}
