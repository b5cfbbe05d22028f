resource "proxmox_virtual_environment_apt_standard_repository" "nosub" {
  handle = "no-subscription"
  node   = "fun-bedbug"
}
resource "proxmox_virtual_environment_apt_repository" "nosub" {
  enabled   = true
  file_path = proxmox_virtual_environment_apt_standard_repository.nosub.file_path
  index     = proxmox_virtual_environment_apt_standard_repository.nosub.index
  node      = "fun-bedbug"
}
