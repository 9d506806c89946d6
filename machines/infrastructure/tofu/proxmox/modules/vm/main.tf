terraform {
  required_providers {
    proxmox = { source = "machines-lab.invalid/standin/proxmox" }
  }
}

variable "name" {
  type = string
}

variable "vm" {
  type = object({
    node_name = string
    vm_id     = number
    cores     = number
    nics = list(object({
      bridge       = string
      ipv4_address = string
      firewall     = bool
    }))
  })
}

variable "password" {
  type      = string
  sensitive = true
}

resource "proxmox_virtual_environment_vm" "this" {
  name      = var.name
  node_name = var.vm.node_name
  vm_id     = var.vm.vm_id
  tags      = ["wetopi"]

  cpu {
    cores = var.vm.cores
    type  = "host"
  }

  dynamic "network_device" {
    for_each = var.vm.nics
    content {
      bridge   = network_device.value.bridge
      firewall = network_device.value.firewall
    }
  }

  initialization {
    ip_config {
      ipv4 {
        address = var.vm.nics[0].ipv4_address
      }
    }
    user_account {
      username = "ubuntu"
      password = var.password
    }
  }
}

output "addresses" {
  value = proxmox_virtual_environment_vm.this.ipv4_addresses
}
