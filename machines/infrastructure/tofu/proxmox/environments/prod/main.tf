terraform {
  required_providers {
    proxmox = { source = "machines-lab.invalid/standin/proxmox" }
  }
}

variable "hypervisor" {
  type = string
}

variable "password" {
  type      = string
  sensitive = true
}

variable "vms" {
  type = map(object({
    node_name = string
    vm_id     = number
    cores     = number
    nics = list(object({
      bridge       = string
      ipv4_address = string
      firewall     = bool
    }))
  }))
}

provider "proxmox" {
  folder = var.hypervisor
}

module "vm" {
  source   = "../../modules/vm"
  for_each = var.vms
  name     = each.key
  vm       = each.value
  password = var.password
}

resource "terraform_data" "rendered" {
  input = keys(var.vms)
}

output "ansible_inventory" {
  value = { for name, vm in module.vm : name => vm.addresses }
}
