/*
 * Definitions that charts bring, one in a line: group, kind, plural, scope, served versions, and `keep` where Helm is told
 * to leave it when the release goes.
 */

const CERT_MANAGER = `
acme.cert-manager.io Challenge challenges Namespaced v1 keep
acme.cert-manager.io Order orders Namespaced v1 keep
cert-manager.io CertificateRequest certificaterequests Namespaced v1 keep
cert-manager.io Certificate certificates Namespaced v1 keep
cert-manager.io ClusterIssuer clusterissuers Cluster v1 keep
cert-manager.io Issuer issuers Namespaced v1 keep
`

const TRAEFIK = `
hub.traefik.io AccessControlPolicy accesscontrolpolicies Cluster v1alpha1
hub.traefik.io AIService aiservices Namespaced v1alpha1
hub.traefik.io APIAuth apiauths Namespaced v1alpha1
hub.traefik.io APIBundle apibundles Namespaced v1alpha1
hub.traefik.io APICatalogItem apicatalogitems Namespaced v1alpha1
hub.traefik.io APIPlan apiplans Namespaced v1alpha1
hub.traefik.io APIPortalAuth apiportalauths Namespaced v1alpha1
hub.traefik.io APIPortal apiportals Namespaced v1alpha1
hub.traefik.io APIRateLimit apiratelimits Namespaced v1alpha1
hub.traefik.io API apis Namespaced v1alpha1
hub.traefik.io APIVersion apiversions Namespaced v1alpha1
hub.traefik.io ContentItem contentitems Namespaced v1alpha1
hub.traefik.io ManagedApplication managedapplications Namespaced v1alpha1
hub.traefik.io ManagedSubscription managedsubscriptions Namespaced v1alpha1
hub.traefik.io Uplink uplinks Namespaced v1alpha1
traefik.io IngressRoute ingressroutes Namespaced v1alpha1
traefik.io IngressRouteTCP ingressroutetcps Namespaced v1alpha1
traefik.io IngressRouteUDP ingressrouteudps Namespaced v1alpha1
traefik.io Middleware middlewares Namespaced v1alpha1
traefik.io MiddlewareTCP middlewaretcps Namespaced v1alpha1
traefik.io ServersTransport serverstransports Namespaced v1alpha1
traefik.io ServersTransportTCP serverstransporttcps Namespaced v1alpha1
traefik.io TLSOption tlsoptions Namespaced v1alpha1
traefik.io TLSStore tlsstores Namespaced v1alpha1
traefik.io TraefikService traefikservices Namespaced v1alpha1
`

const ARGO_CD = `
argoproj.io Application applications Namespaced v1alpha1 keep
argoproj.io ApplicationSet applicationsets Namespaced v1alpha1 keep
argoproj.io AppProject appprojects Namespaced v1alpha1 keep
`

const FLUX = `
helm.toolkit.fluxcd.io HelmRelease helmreleases Namespaced v2
image.toolkit.fluxcd.io ImageUpdateAutomation imageupdateautomations Namespaced v1,v1beta2
image.toolkit.fluxcd.io ImagePolicy imagepolicies Namespaced v1,v1beta2
image.toolkit.fluxcd.io ImageRepository imagerepositories Namespaced v1,v1beta2
kustomize.toolkit.fluxcd.io Kustomization kustomizations Namespaced v1
notification.toolkit.fluxcd.io Alert alerts Namespaced v1beta2,v1beta3
notification.toolkit.fluxcd.io Provider providers Namespaced v1beta2,v1beta3
notification.toolkit.fluxcd.io Receiver receivers Namespaced v1,v1beta2
source.toolkit.fluxcd.io Bucket buckets Namespaced v1
source.toolkit.fluxcd.io ExternalArtifact externalartifacts Namespaced v1
source.toolkit.fluxcd.io GitRepository gitrepositories Namespaced v1
source.toolkit.fluxcd.io HelmChart helmcharts Namespaced v1
source.toolkit.fluxcd.io HelmRepository helmrepositories Namespaced v1
source.toolkit.fluxcd.io OCIRepository ocirepositories Namespaced v1
`

const ROOK = `
csi.ceph.io CephConnection cephconnections Namespaced v1,v1alpha1
csi.ceph.io ClientProfile clientprofiles Namespaced v1,v1alpha1
csi.ceph.io ClientProfileMapping clientprofilemappings Namespaced v1,v1alpha1
csi.ceph.io Driver drivers Namespaced v1,v1alpha1
csi.ceph.io OperatorConfig operatorconfigs Namespaced v1,v1alpha1
ceph.rook.io CephBlockPoolRadosNamespace cephblockpoolradosnamespaces Namespaced v1 keep
ceph.rook.io CephBlockPool cephblockpools Namespaced v1 keep
ceph.rook.io CephBucketNotification cephbucketnotifications Namespaced v1 keep
ceph.rook.io CephBucketTopic cephbuckettopics Namespaced v1 keep
ceph.rook.io CephClient cephclients Namespaced v1 keep
ceph.rook.io CephCluster cephclusters Namespaced v1 keep
ceph.rook.io CephCOSIDriver cephcosidrivers Namespaced v1 keep
ceph.rook.io CephFilesystemMirror cephfilesystemmirrors Namespaced v1 keep
ceph.rook.io CephFilesystem cephfilesystems Namespaced v1 keep
ceph.rook.io CephFilesystemSubVolumeGroup cephfilesystemsubvolumegroups Namespaced v1 keep
ceph.rook.io CephNFS cephnfses Namespaced v1 keep
ceph.rook.io CephNVMeOFGateway cephnvmeofgateways Namespaced v1 keep
ceph.rook.io CephObjectRealm cephobjectrealms Namespaced v1 keep
ceph.rook.io CephObjectStore cephobjectstores Namespaced v1 keep
ceph.rook.io CephObjectStoreUser cephobjectstoreusers Namespaced v1 keep
ceph.rook.io CephObjectZoneGroup cephobjectzonegroups Namespaced v1 keep
ceph.rook.io CephObjectZone cephobjectzones Namespaced v1 keep
ceph.rook.io CephRBDMirror cephrbdmirrors Namespaced v1 keep
objectbucket.io ObjectBucketClaim objectbucketclaims Namespaced v1alpha1 keep
objectbucket.io ObjectBucket objectbuckets Cluster v1alpha1 keep
`

const METALLB = `
metallb.io BFDProfile bfdprofiles Namespaced v1beta1
metallb.io BGPAdvertisement bgpadvertisements Namespaced v1beta1
metallb.io BGPPeer bgppeers Namespaced v1beta1,v1beta2
metallb.io Community communities Namespaced v1beta1
metallb.io ConfigurationState configurationstates Namespaced v1beta1
metallb.io IPAddressPool ipaddresspools Namespaced v1beta1
metallb.io L2Advertisement l2advertisements Namespaced v1beta1
metallb.io ServiceBGPStatus servicebgpstatuses Namespaced v1beta1
metallb.io ServiceL2Status servicel2statuses Namespaced v1beta1
`

const CILIUM = `
cilium.io CiliumBGPAdvertisement ciliumbgpadvertisements Cluster v2,v2alpha1
cilium.io CiliumBGPClusterConfig ciliumbgpclusterconfigs Cluster v2,v2alpha1
cilium.io CiliumBGPNodeConfigOverride ciliumbgpnodeconfigoverrides Cluster v2,v2alpha1
cilium.io CiliumBGPNodeConfig ciliumbgpnodeconfigs Cluster v2,v2alpha1
cilium.io CiliumBGPPeerConfig ciliumbgppeerconfigs Cluster v2,v2alpha1
cilium.io CiliumCIDRGroup ciliumcidrgroups Cluster v2,v2alpha1
cilium.io CiliumClusterwideEnvoyConfig ciliumclusterwideenvoyconfigs Cluster v2
cilium.io CiliumClusterwideNetworkPolicy ciliumclusterwidenetworkpolicies Cluster v2
cilium.io CiliumEgressGatewayPolicy ciliumegressgatewaypolicies Cluster v2
cilium.io CiliumEndpoint ciliumendpoints Namespaced v2
cilium.io CiliumEnvoyConfig ciliumenvoyconfigs Namespaced v2
cilium.io CiliumIdentity ciliumidentities Cluster v2
cilium.io CiliumLoadBalancerIPPool ciliumloadbalancerippools Cluster v2,v2alpha1
cilium.io CiliumLocalRedirectPolicy ciliumlocalredirectpolicies Namespaced v2
cilium.io CiliumNetworkPolicy ciliumnetworkpolicies Namespaced v2
cilium.io CiliumNodeConfig ciliumnodeconfigs Namespaced v2,v2alpha1
cilium.io CiliumNode ciliumnodes Cluster v2
cilium.io CiliumEndpointSlice ciliumendpointslices Cluster v2alpha1
cilium.io CiliumGatewayClassConfig ciliumgatewayclassconfigs Namespaced v2alpha1
cilium.io CiliumL2AnnouncementPolicy ciliuml2announcementpolicies Cluster v2alpha1
cilium.io CiliumPodIPPool ciliumpodippools Cluster v2alpha1
`

const GARAGE = `
deuxfleurs.fr GarageNode garagenodes Namespaced v1
`

/** By the name of a chart. */
export const DEFINITIONS: Readonly<Record<string, string>> = {
  'argo-cd': ARGO_CD,
  'cert-manager': CERT_MANAGER,
  flux2: FLUX,
  metallb: METALLB,
  'rook-ceph': ROOK,
  traefik: TRAEFIK,
  // As in K3s: the same definitions in a separate chart.
  'traefik-crd': TRAEFIK,
}

/** Outside of their templates: Helm installs them once, and neither changes nor removes them. */
export const BESIDE_TEMPLATES: ReadonlySet<string> = new Set(['traefik'])

/** Made by a workload when it first runs, by its name. */
export const MADE_BY: Readonly<Record<string, string>> = { 'cilium-operator': CILIUM, garage: GARAGE }

export interface Definition {
  readonly group: string
  readonly kind: string
  readonly plural: string
  readonly scope: string
  readonly versions: readonly string[]
  readonly keep: boolean
}

export function definitionsIn(table: string): readonly Definition[] {
  return table
    .trim()
    .split('\n')
    .map((line) => {
      const [group = '', kind = '', plural = '', scope = '', versions = '', keep] = line.split(' ')
      return { group, kind, plural, scope, versions: versions.split(','), keep: keep === 'keep' }
    })
}
