# Runs a formula as Homebrew does, in a folder: ruby formula.rb FORMULA SOURCE PREFIX MAN PYTHON
#
# It checks that the formula declares what Homebrew needs, then runs `install` in a copy of the
# source and the block `test` with what was installed.
require "fileutils"
require "open3"
require "pathname"
require "tmpdir"

FORMULA, SOURCE, PREFIX, MAN, PYTHON = ARGV.map { |each| Pathname.new(File.expand_path(each)) }

class Pathname
  def install(*files)
    mkpath
    files.each do |given|
      names = given.is_a?(Hash) ? given : { given => File.basename(given.to_s) }
      names.each { |from, to| FileUtils.cp(from.to_s, self/to.to_s) }
    end
  end

  def install_symlink(*files)
    mkpath
    files.each { |file| FileUtils.ln_s(file.to_s, self/File.basename(file.to_s)) }
  end
end

class Formula
  class << self
    attr_reader :declared, :dependencies, :check

    %i[desc homepage url sha256 license].each do |name|
      define_method(name) { |value| (@declared ||= {})[name] = value }
    end

    def depends_on(name)
      (@dependencies ||= []) << name
    end

    def resource(_name)
      raise "a resource needs a block" unless block_given?
    end

    def test(&block)
      @check = block
    end
  end

  def version = self.class.declared[:url][/-(\d[^-]*)\.tar\.gz\z/, 1]
  def buildpath = Pathname.pwd
  def libexec = PREFIX/"libexec"
  def bin = PREFIX/"bin"
  def man1 = PREFIX/"share/man/man1"
  def bash_completion = PREFIX/"etc/bash_completion.d"
  def zsh_completion = PREFIX/"share/zsh/site-functions"
  def fish_completion = PREFIX/"share/fish/vendor_completions.d"
  def resource(_name) = MAN

  def system(*command)
    command[0] = PYTHON if self.class.dependencies.include?(command[0].sub("python", "python@"))
    Kernel.system(*command.map(&:to_s)) || raise("#{command.join(" ")} has failed")
  end

  def shell_output(command) = `#{command}`
  def pipe_output(command, given) = Open3.capture2(command, stdin_data: given).first
  def assert_match(expected, found) = found[expected] || raise("no #{expected} in #{found}")
  def assert_equal(expected, found) = expected == found || raise("#{found} is not #{expected}")
end

load FORMULA.to_s
missing = %i[desc homepage url sha256 license] - Dlpctl.declared.keys
raise "not declared: #{missing.join(", ")}" unless missing.empty?

formula = Dlpctl.new
Dir.mktmpdir do |folder|
  FileUtils.cp_r("#{SOURCE}/.", folder)
  Dir.chdir(folder) { formula.install }
end
formula.instance_exec(&Dlpctl.check)
